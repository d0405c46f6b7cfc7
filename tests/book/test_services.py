"""Devcontainer, Binder and GitHub set up what `make` sets up, as far as that can be tried without these services."""

import json
import re

import pytest
import test_environments
import yaml
from packaging.specifiers import SpecifierSet

from book import FRAMEWORKS, ROOT
from book.setup.system_tools import TOOLS

CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
DOCKERFILE = (ROOT / ".devcontainer" / CONTAINER["build"]["dockerfile"]).read_text()
project = test_environments.project  # the fixture
NEEDED = {"g++", "git", "make"}  # as the README says
WORKFLOW = (ROOT / ".github" / "workflows" / "book.yml").read_text(encoding="utf-8")
JOBS = yaml.safe_load(WORKFLOW)["jobs"]


def kernels(folder):
    return {path.parent.name for path in folder.glob("kernels/*/kernel.json")}


def test_both_install_what_the_set_up_needs():
    installed = re.search(r"--no-install-recommends (.+?) \\", DOCKERFILE)[1].split()
    assert set(installed) == NEEDED | {package for tool in TOOLS.values() for package in tool.packages}
    assert set((ROOT / "binder" / "apt.txt").read_text().split()) == NEEDED
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (python,) = [entry.partition("=")[2] for entry in conda if str(entry).startswith("python=")]
    assert f"FROM python:{python}-" in DOCKERFILE
    assert (ROOT / "binder" / "runtime.txt").read_text() == f"python-{python}\n"


@pytest.mark.parametrize("command", ["binder/postBuild", CONTAINER["postCreateCommand"]])
def test_the_set_up_makes_the_kernels_of_all_frameworks(project, command):
    done = project.run("bash", "-c", command)
    assert done.returncode == 0, done.stderr
    assert kernels(project.root / "_build" / "jupyter" / "share" / "jupyter") == {f"d2l-{name}" for name in FRAMEWORKS}


def test_what_a_service_starts_finds_the_kernels(project):
    project.run("binder/postBuild")
    done = project.run("binder/start", "sh", "-c", "ls $JUPYTER_PATH/kernels")
    assert set(done.stdout.split()) == {f"d2l-{name}" for name in FRAMEWORKS}
    assert CONTAINER["containerEnv"]["JUPYTER_PATH"].endswith("/_build/jupyter/share/jupyter")


def test_github_runs_the_commands_of_the_readme():
    assert ".ci/run" in [step.get("run") for step in JOBS["book"]["steps"]]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_github_tries_every_python_that_the_book_and_its_wheel_accept():
    accepted = SpecifierSet(test_environments.CONTENT["tool"]["d2l"]["docs"]["python"])
    tried = JOBS["machine"]["strategy"]["matrix"]["python"]
    assert tried == [f"3.{minor}" for minor in range(30) if f"3.{minor}" in accepted]
    classifiers = test_environments.CONTENT["project"]["classifiers"]
    assert [f"Programming Language :: Python :: {python}" for python in tried] == [
        name for name in classifiers if name.startswith("Programming Language")
    ]


def test_actions_are_pinned_by_their_commits():
    uses = re.findall(r"\buses: (.+)", WORKFLOW)
    assert uses
    assert [use for use in uses if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


def test_no_job_may_do_more_than_read_but_the_one_that_publishes():
    assert yaml.safe_load(WORKFLOW)["permissions"] == {}
    granted = {name: job["permissions"] for name, job in JOBS.items()}
    assert granted.pop("publish") == {"pages": "write", "id-token": "write"}
    assert all(permissions == {"contents": "read"} for permissions in granted.values())
