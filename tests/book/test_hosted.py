"""The one setting that makes pages and notebooks link to hosted Jupyters; without it there is no link."""

import pytest
from tiny import Project
from tiny_book import RUN, Book, code, notebook, prose

from book import BookError, project
from book.bundle import first_cell
from book.hosted import links, repository

NAME = "owner/the-book"
COLAB = f"https://colab.research.google.com/github/{NAME}/blob/bundle/d2l-jax/page.ipynb"
BINDER = f"https://mybinder.org/v2/gh/{NAME}/HEAD?urlpath=lab/tree/work/jax/page.ipynb"


def setting(address):
    content = project()
    content["tool"]["d2l"]["repository"] = address
    return content


@pytest.mark.parametrize("ending", ["", "/", ".git"])
def test_the_setting_is_the_address_of_a_repository(ending):
    assert repository(setting(f"https://github.com/{NAME}{ending}")) == NAME


@pytest.mark.parametrize("address", [NAME, "http://github.com/a/b", "https://github.com/a", "https://a.org/b/c"])
def test_another_address_is_refused_with_the_cure(address):
    with pytest.raises(BookError, match="write it so in pyproject.toml, or leave it empty for no links"):
        repository(setting(address))


def test_without_a_repository_there_is_no_link():
    assert repository(setting("")) == ""
    assert links("", "jax", "page") == {}
    assert 'else ""\n' in first_cell("jax", "a.whl", setting(""))["source"]


def test_with_a_repository_a_bundled_notebook_fetches_what_lay_beside_it():
    source = first_cell("jax", "a.whl", setting(f"https://github.com/{NAME}"))["source"]
    assert f'else "https://github.com/{NAME}/raw/bundle/d2l-jax/"\n' in source


def test_a_page_links_to_the_notebook_of_each_framework_at_each_service(tmp_path):
    book = Book(tmp_path, {"page": notebook(prose("# Page"), prose("Jax.", "jax"), code("work()", "jax"), jax=RUN)})
    assert book.build(repository=NAME) == (0, "")
    book.warnings["html"] = (0, "")
    found = [link["href"] for link in book.article("page").select(".page-facts a") if "download" not in link.attrs]
    assert found == [COLAB, BINDER]


def test_every_notebook_begins_with_the_links_once_there_is_a_repository(tmp_path, monkeypatch):
    tiny = Project(tmp_path)
    tiny.make("notebooks")
    for slug in ("tiny", "index"):
        assert "hosted" not in [cell["id"] for cell in tiny.read("notebooks", slug=slug)["cells"]]
    content = setting(f"https://github.com/{NAME}")
    monkeypatch.setattr("book.hosted.project", lambda: content)
    tiny.make("notebooks")
    for slug in ("tiny", "index"):
        first = tiny.read("notebooks", slug=slug)["cells"][0]["source"]
        assert [address.replace("page", slug) in first for address in (COLAB, BINDER)] == [True, True]
