"""The wheel: built from a checkout, installed elsewhere, imported in each framework's environment."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from book import MODULES, ROOT

ENVIRONMENTS = Path(sys.prefix).parent  # of which one runs this test


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder with the content of a wheel, built from a checkout in which somebody keeps files of their own."""
    folder, checkout = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("checkout")
    for name in ("d2l_utils", "d2l_lab"):
        shutil.copytree(ROOT / name, checkout / name)
    for name in ("d2l_utils", "d2l_lab", "d2l_lab/tables"):
        (checkout / name / "private.txt").write_text("a password")
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, checkout)
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=checkout)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def run(*command, cwd):
    """Run a program, for which the folder that it runs in comes before any checkout; return its lines."""
    environment = os.environ | {"PYTHONPATH": str(cwd), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_wheel_holds_all_that_is_read_from_it(installed):
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert {top.partition("/")[0].partition("-")[0] for top in files} == {"d2l_utils", "d2l_lab"}
    assert {"d2l_utils/py.typed", "d2l_lab/tables/hardware.csv", "d2l_lab/tables/rack.json"} <= files
    assert {f"d2l_lab/kernels/{name}.h" for name in ("exp", "heads", "tile")} <= files
    assert [name for name in files if "private" in name or "__pycache__" in name] == []
    code = "from d2l_lab.machine import datasheets as d\nprint(d.__file__, len(d.specifications('links')) > 0)"
    found = run(sys.executable, "-c", code, cwd=installed)
    assert found == [f"{installed / 'd2l_lab' / 'machine' / 'datasheets.py'} True"]


@pytest.mark.slow
@pytest.mark.parametrize(("framework", "folder"), MODULES.items())
def test_a_framework_is_imported_from_the_wheel(framework, folder, installed):
    executable = ENVIRONMENTS / framework / "bin" / "python"
    if not executable.exists():
        pytest.skip(f"{framework} is not set up")
    code = f"from d2l_utils import {folder} as d2l\nprint(d2l.__file__, d2l.build_lenet.__module__)"
    found = run(str(executable), "-c", code, cwd=installed)
    assert found == [f"{installed / 'd2l_utils' / folder / '__init__.py'} d2l_utils.{folder}.networks"]
