"""The pins, pyproject.toml and environment.yml agree; the set-up fails in one plain line."""

import os
import platform
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from book import environments

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NAMES = ["docs", *environments.FRAMEWORKS]


def group(name):
    """Return the requirements of a dependency group, included groups too."""
    entries = PROJECT["dependency-groups"][name]
    return [
        line for entry in entries for line in (group(entry["include-group"]) if isinstance(entry, dict) else [entry])
    ]


def pins(name):
    return (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_every_requirement_is_pinned_to_one_version_without_a_host(name):
    for line in pins(name):
        assert re.fullmatch(r"[a-z0-9-]+==[0-9][^ ;]*( ; .+)?", line), line
        assert "/" not in line


@pytest.mark.parametrize("name", NAMES)
def test_every_version_in_pyproject_stands_in_the_pins(name):
    kept = {line.split(" ;")[0] for line in pins(name)}
    for wanted in group(name):
        package, _, version = wanted.split(";")[0].strip().partition("==")
        assert f"{package}=={version}" in kept if version else any(k.startswith(f"{package}==") for k in kept), wanted


def test_every_framework_has_a_group_a_module_and_a_python():
    for name in environments.FRAMEWORKS:
        assert name in PROJECT["dependency-groups"]
        assert name in PROJECT["tool"]["d2l"]["python"]


def test_the_gpu_builds_have_the_versions_of_the_pins():
    for name, wanted in PROJECT["tool"]["d2l"]["gpu"].items():
        package, version = re.fullmatch(r"([a-z]+)\[[a-z0-9-]+\]==(.+)", wanted).groups()
        assert any(line.startswith(f"{package}=={version}") for line in pins(name)), wanted


def test_on_a_gpu_the_build_for_the_cpu_is_not_installed_into_the_same_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "BUILD", tmp_path)
    monkeypatch.setattr(environments, "has_gpu", lambda: True)
    for name, extra in PROJECT["tool"]["d2l"]["gpu"].items():
        option, path, last = environments.install_arguments(name, PROJECT["tool"]["d2l"], "")
        assert (option, last) == ("-r", extra)
        assert Path(path).is_relative_to(tmp_path / "env")
        dropped = set(pins(name)) - set(Path(path).read_text().splitlines())
        assert [line.split("==")[0] for line in dropped] == ["tensorflow-cpu"] * (name == "tensorflow")
    monkeypatch.setattr(environments, "has_gpu", lambda: False)
    plain = environments.install_arguments("tensorflow", PROJECT["tool"]["d2l"], "")
    assert plain == ["-r", "requirements/tensorflow.txt"]


def test_conda_gets_the_same_python_and_uv():
    wanted = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    python = next(entry for entry in wanted if str(entry).startswith("python="))
    assert python.partition("=")[2] in PROJECT["tool"]["d2l"]["python"]["mxnet"]
    assert [f"uv=={PROJECT['tool']['d2l']['uv']}"] == next(e for e in wanted if isinstance(e, dict))["pip"]


def run(*command, **environment):
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


def test_an_unknown_environment_is_named_in_one_line():
    done = run(sys.executable, "book/environments.py", "pytroch")
    assert done.returncode == 1
    assert done.stderr == "error: unknown environment 'pytroch'; known: docs pytorch tensorflow jax mxnet\n"


@pytest.mark.parametrize(("variable", "wrong"), [("FRAMEWORKS", "pytroch"), ("SECTIONS", "hardwear")])
def test_a_misspelt_name_stops_make_with_the_known_ones(variable, wrong):
    done = run("make", "book", f"{variable}={wrong}")
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"{wrong}. Known" in done.stderr


def test_a_missing_compiler_is_an_error_that_names_the_cure(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(environments.SetupError, match=r"no C\+\+ compiler .* install it"):
        environments.check_compiler()


def test_a_framework_without_a_wheel_is_skipped_and_the_others_stay(monkeypatch, capsys):
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")

    def only_check(name, table):
        environments.check_platform(name, table)

    monkeypatch.setattr(environments, "make_environment", only_check)
    assert environments.make_all(["docs", "pytorch", "mxnet"], environments.settings()) == ["pytorch"]
    assert "skipped: MXNet has no wheel for darwin-arm64" in capsys.readouterr().err


def test_a_python_that_is_too_new_is_named_with_the_one_that_is_needed(monkeypatch):
    def nothing_found(command, failure, **_):
        raise environments.SetupError(failure)

    monkeypatch.setattr(environments, "call", nothing_found)
    with pytest.raises(environments.NotHereError, match=r"mxnet needs Python ==3.11.\*"):
        environments.interpreter("uv", "mxnet", environments.settings())


def test_no_network_is_said_as_such():
    failing = [sys.executable, "-c", 'import sys; sys.exit("error sending request: dns error")']
    with pytest.raises(environments.SetupError, match="is there a network connection"):
        environments.call(failing, "cannot install")


def test_make_help_prints_every_target_with_a_line():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", text, re.M).group(1).split()
    helped = run("make", "help").stdout
    assert [t for t in phony if not re.search(rf"^make {t} +\S", helped, re.M)] == []


def test_what_is_derived_or_names_a_host_is_not_committed():
    tracked = run("git", "ls-files").stdout.splitlines()
    assert not [path for path in tracked if path.startswith("_build/") or Path(path).name == "uv.lock"]


def test_after_make_book_nothing_is_left_to_make():
    assert run("make", "--question", "_build/html/index.html").returncode == 0
