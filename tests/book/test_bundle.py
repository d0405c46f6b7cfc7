"""The bundle: what is in the zip, and what the first cell of its notebooks installs and keeps."""

import io
import zipfile

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from tiny import Project

from book import FRAMEWORKS, MODULES, project
from book.bundle import direct, first_cell, name_of

WHEEL = "d2l_utils-0.1.0-py3-none-any.whl"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """The folder of an unzipped bundle of a tiny project."""
    tiny, folder = Project(tmp_path_factory.mktemp("tiny")), tmp_path_factory.mktemp("elsewhere")
    tiny.make("bundle")
    path = tiny.root / "_build" / "bundle" / "d2l-jax.zip"
    first = path.read_bytes()
    tiny.make("bundle")
    assert path.read_bytes() == first
    archive = zipfile.ZipFile(io.BytesIO(first))
    assert {file.compress_type for file in archive.infolist()} == {zipfile.ZIP_DEFLATED}
    archive.extractall(folder)
    return folder / "d2l-jax"


def test_a_bundle_holds_all_that_its_notebooks_need_to_install(bundle):
    names = {path.name for path in bundle.iterdir()}
    assert names == {"README.md", "requirements.txt", "pins.txt", WHEEL, "index.ipynb", "tiny.ipynb"}
    assert len((bundle / "README.md").read_text().splitlines()) <= 10
    wheel = zipfile.ZipFile(bundle / WHEEL).namelist()
    assert {"d2l_lab/tables/hardware.csv", "d2l_utils/jax/__init__.py"} <= set(wheel)
    pinned = (bundle / "pins.txt").read_text()
    assert all(f"{name_of(line)}==" in pinned for line in (bundle / "requirements.txt").read_text().splitlines())
    notebook = nbformat.read(bundle / "tiny.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert [cell.id == "install" for cell in notebook.cells].index(True) == 0
    front = nbformat.read(bundle / "index.ipynb", as_version=4)
    assert "install" not in [cell.id for cell in front.cells]


class Jupyter:
    """A Jupyter whose Python has some modules, and whose %pip only notes what it is asked for."""

    def __init__(self, *modules):
        self.modules, self.asked, self.names = modules, [], {"get_ipython": lambda: self}

    def run_line_magic(self, magic, line):
        self.asked.append((magic, line.format(**self.names)))

    def run(self, framework, monkeypatch):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: name in self.modules or None)
        monkeypatch.setattr(
            "importlib.metadata.packages_distributions", lambda: {name: [name] for name in self.modules}
        )
        monkeypatch.setattr("importlib.metadata.version", lambda name: "9.9")
        source = first_cell(framework, WHEEL, project())["source"]
        exec(TransformerManager().transform_cell(source), self.names)
        return [" ".join(line.split()) for _, line in self.asked]


@pytest.fixture
def beside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / WHEEL).touch()


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_where_the_framework_is_missing_the_pinned_versions_are_installed(framework, beside, monkeypatch, capsys):
    pip = "install --quiet -r requirements.txt -c pins.txt"
    assert Jupyter().run(framework, monkeypatch) == [f"{pip} {WHEEL}"]
    assert capsys.readouterr().out.startswith(f"Missing: {MODULES[framework]}, ")


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_beside_a_framework_that_is_there_only_what_fits_it_is_installed(framework, beside, monkeypatch, capsys):
    module = MODULES[framework]
    (line,) = Jupyter(module).run(framework, monkeypatch)
    others = [name_of(entry) for entry in direct(framework, project()) if module not in entry]
    assert line == " ".join(["install --quiet", f"{module}==9.9", *others, WHEEL])
    assert f"Keeping {module}==9.9\n" in capsys.readouterr().out


def test_where_nothing_is_missing_nothing_is_installed(monkeypatch, capsys):
    everything = ("jax", "flax", "optax", "flatbuffers", "d2l_utils")
    assert Jupyter(*everything).run("jax", monkeypatch) == []
    assert capsys.readouterr().out == "Missing: nothing, so nothing is installed\n"


def test_a_missing_wheel_is_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=f"upload {WHEEL} beside this notebook"):
        Jupyter("torch").run("pytorch", monkeypatch)
