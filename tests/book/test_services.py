"""The devcontainer and Binder set up what `make` sets up, as far as that can be tried without these services."""

import json
import re

import pytest
import test_environments
import yaml

from book import FRAMEWORKS, ROOT
from book.setup.aids import AIDS

CONTAINER = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
DOCKERFILE = (ROOT / ".devcontainer" / CONTAINER["build"]["dockerfile"]).read_text()
project = test_environments.project  # the fixture
NEEDED = {"g++", "git", "make"}  # as the README says


def kernels(folder):
    return {path.parent.name for path in folder.glob("kernels/*/kernel.json")}


def test_both_install_what_the_set_up_needs():
    installed = re.search(r"--no-install-recommends (.+?) \\", DOCKERFILE)[1].split()
    assert set(installed) == NEEDED | {package for aid in AIDS.values() for package in aid.packages}
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
