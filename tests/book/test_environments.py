"""The pins, pyproject.toml and environment.yml agree; what is out of date is made anew, and nothing else."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from book import environments, programs

ROOT = Path(__file__).parents[2]
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


def test_conda_gets_the_same_python_and_uv():
    wanted = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    python = next(entry for entry in wanted if str(entry).startswith("python="))
    assert python.partition("=")[2] in PROJECT["tool"]["d2l"]["python"]["mxnet"]
    assert [f"uv=={PROJECT['tool']['d2l']['uv']}"] == next(e for e in wanted if isinstance(e, dict))["pip"]


def test_what_runs_before_anything_is_installed_imports_the_standard_library_only():
    for name in ("__init__", "environments", "programs"):
        for node in ast.walk(ast.parse((ROOT / "book" / f"{name}.py").read_text())):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert {module.split(".")[0] for module in modules} <= {"book", *sys.stdlib_module_names}


# Set-up with a uv that only notes what it is asked for

UV = r"""#!/bin/sh
if [ "$1" = --version ]; then cat "$UV_LOG.version"; exit; fi
echo "$@" >> "$UV_LOG"
if [ -e "$UV_LOG.fails" ] && echo "$@" | grep -qf "$UV_LOG.fails"; then cat "$UV_LOG.says" >&2; exit 2; fi
[ "$1 $2" != "python find" ] || echo /usr/bin/python3
[ "$1" != venv ] || { for folder; do :; done; mkdir -p "$folder/bin" && cp "$UV_LOG.python" "$folder/bin/python"; }
"""
# The Python of each environment: it registers kernels, and has no browser to fetch.
PYTHON = r"""#!/bin/sh
[ "$2" != playwright ] || { echo "Error: getaddrinfo ENOTFOUND" >&2; exit 1; }
[ "$2" != ipykernel ] || { mkdir -p "$5/share/jupyter/kernels/$7"; touch "$5/share/jupyter/kernels/$7/kernel.json"; }
"""
NO_SERVER = "error: Request failed after 3 retries\n  Caused by: dns error: failed to lookup address information\n"


class Project:
    """A copy of what sets the project up, in a folder that may move, with a fake uv before all else on PATH."""

    def __init__(self, root, tools):
        self.root, self.tools, self.log = root, tools, tools / "log"
        for path in ("Makefile", "pyproject.toml", "requirements", "book"):
            copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
            copy(ROOT / path, self.root / path)
        (self.root / "notebooks").mkdir()
        (self.root / "notebooks" / "tiny.md").touch()
        (tools / "uv").write_text(UV)
        (tools / "uv").chmod(0o755)
        Path(f"{self.log}.version").write_text("uv 99.0.0 (fake)\n")
        Path(f"{self.log}.python").write_text(PYTHON)
        Path(f"{self.log}.python").chmod(0o755)

    def run(self, *command, path=os.environ["PATH"]):
        outer = ("MAKE", "FRAMEWORKS", "SECTIONS")  # of the make that runs the tests
        environment = {name: value for name, value in os.environ.items() if not name.startswith(outer)}
        environment |= {"PATH": f"{self.tools}:{path}", "UV_LOG": str(self.log), "PIP_FIND_LINKS": ""}
        environment |= {"CXX": sys.executable}  # as good as a compiler, as long as nothing is compiled
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)

    def setup(self, *names):
        """Set up; return the finished process, and what was made or tried."""
        self.log.write_text("")
        done = self.run(sys.executable, "-m", "book.setup.environments", *(names or ["docs", "jax", "mxnet"]))
        return done, [Path(line.split()[-1]).name for line in self.log.read_text().splitlines() if line[:4] == "venv"]

    def fails(self, pattern, says=NO_SERVER):
        """Let uv fail where its arguments match."""
        Path(f"{self.log}.fails").write_text(pattern)
        Path(f"{self.log}.says").write_text(says)

    def edit(self, path, old, new):
        text = (self.root / path).read_text()
        assert old in text
        (self.root / path).write_text(text.replace(old, new, 1))


@pytest.fixture
def project(tmp_path):
    for name in ("here", "tools"):
        (tmp_path / name).mkdir()
    return Project(tmp_path / "here", tmp_path / "tools")


def test_what_is_there_is_not_made_again(project):
    assert project.setup()[1] == ["docs", "jax", "mxnet"]
    done, made = project.setup()
    assert (done.stdout, done.stderr, made) == ("jax mxnet\n", "", [])


@pytest.mark.parametrize(
    ("path", "old", "new", "made"),
    [
        ("pyproject.toml", "line-length = 120", "line-length = 99", []),
        ("pyproject.toml", "-ra --strict", "--strict", []),
        ("pyproject.toml", "d2l_utils/data", "d2l_utils/tables", ["docs", "jax", "mxnet"]),
        ("pyproject.toml", 'OMP_NUM_THREADS = "1"', 'OMP_NUM_THREADS = "2"', ["mxnet"]),
        ("pyproject.toml", 'jax = ">=3.11"', 'jax = ">=3.12"', ["jax"]),
        ("requirements/jax.txt", "jax==", "jax==9", ["jax"]),
        ("book/environments.py", "# one more", "# (one more)", []),
        ("book/environments.py", "RECIPE = ", "RECIPE = 9", ["docs", "jax", "mxnet"]),
    ],
)
def test_what_decides_an_environment_makes_it_anew_and_nothing_else_does(project, path, old, new, made):
    project.setup()
    project.edit(path, old, new)
    assert project.setup()[1] == made


def test_in_a_moved_folder_environments_and_kernels_are_made_anew(project, tmp_path):
    project.setup()
    project.root = project.root.rename(tmp_path / "there")
    assert project.setup()[1] == ["docs", "jax", "mxnet"]


@pytest.mark.parametrize("lost", ["env/jax/bin/python", "jupyter/share/jupyter/kernels/d2l-jax/kernel.json"])
def test_an_environment_that_lost_its_python_or_its_kernel_is_made_anew(project, lost):
    project.setup()
    (project.root / "_build" / lost).unlink()
    assert project.setup()[1] == ["jax"]


def test_a_python_that_cannot_be_fetched_leaves_the_framework_out_until_it_can(project):
    project.fails("==3.11")
    for _ in range(2):
        done, made = project.setup()
        assert (done.returncode, done.stdout) == (0, "jax\n")
        assert re.search(r"^skipped: mxnet needs Python ==3.11.*network connection", done.stderr, re.M)
        assert "python install ==3.11.*" in project.log.read_text()
    project.fails("nothing")
    done, made = project.setup()
    assert (done.stdout, made) == ("jax mxnet\n", ["mxnet"])


def test_a_framework_without_a_wheel_is_skipped_with_its_line_each_time_and_the_others_stay(project):
    project.edit("pyproject.toml", 'platforms.mxnet = ["linux-x86_64", "darwin-x86_64"]', 'platforms.mxnet = ["vax"]')
    for _ in range(2):
        done, _ = project.setup()
        assert (done.returncode, done.stdout) == (0, "jax\n")
        assert "skipped: MXNet has no wheel for" in done.stderr
    assert project.setup("docs", "mxnet")[0].stderr.endswith("error: none of these runs on this machine: docs mxnet\n")


def test_wheels_that_could_not_be_had_are_tried_again(project):
    project.fails("pip install")
    assert project.setup("jax")[0].returncode == 1
    project.fails("nothing")
    assert project.setup("jax")[0].stdout == "jax\n"


def test_without_a_network_make_stops_with_our_words_alone(project):
    project.fails("pip install")
    done = project.run("make", "book", "FRAMEWORKS=jax")
    assert done.returncode != 0
    assert done.stderr.splitlines()[:2] == [
        "setting up: docs",
        "error: cannot install requirements/docs.txt: no server answers. Is there a network connection? "
        "The next call tries again",
    ]
    assert re.fullmatch(r"Makefile:\d+: \*\*\* nothing can be built before .*Stop.", done.stderr.splitlines()[2])
    assert len(done.stderr.splitlines()) == 3


def test_another_failure_is_quoted(project):
    project.fails("pip install", "No solution found: jax==1.2.3 does not exist\n")
    said = project.setup("jax")[0].stderr
    assert "error: cannot install requirements/jax.txt: No solution found: jax==1.2.3 does not exist\n" in said


def test_an_unknown_environment_is_named_in_one_line(project):
    done, _ = project.setup("pytroch")
    assert done.returncode == 1
    assert done.stderr == "error: unknown environment 'pytroch'; known: docs pytorch tensorflow jax mxnet\n"


@pytest.mark.parametrize(("variable", "wrong"), [("FRAMEWORKS", "pytroch"), ("SECTIONS", "hardwear")])
def test_a_misspelt_name_stops_make_with_the_known_ones(project, variable, wrong):
    done = project.run("make", "book", f"{variable}={wrong}")
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"{wrong}. Known" in done.stderr


@pytest.mark.parametrize(("version", "used"), [("99.0.0", True), ("0.1.0", False), ("unknown", False)])
def test_the_uv_on_path_is_used_if_it_is_as_new_as_the_pinned_one(project, monkeypatch, version, used):
    monkeypatch.setenv("PATH", str(project.tools), prepend=os.pathsep)
    monkeypatch.setenv("UV_LOG", str(project.log))
    monkeypatch.setattr(programs, "BUILD", project.root / "_build")
    Path(f"{project.log}.version").write_text(f"uv {version}\n")
    calls = []
    monkeypatch.setattr(programs, "call", lambda command, *_: calls.append(command))
    found, own = programs.find_uv("0.13.8"), project.root / "_build" / "uv" / "bin" / "uv"
    assert found == str(project.tools / "uv" if used else own)
    assert [command[-1] for command in calls] == ([] if used else [str(own.parents[1]), "uv==0.13.8"])


def test_on_a_gpu_the_build_for_the_cpu_is_not_installed_into_the_same_folder(project, monkeypatch):
    monkeypatch.setattr(environments, "BUILD", project.root / "_build")
    (project.root / "_build" / "env").mkdir(parents=True)
    for name in PROJECT["tool"]["d2l"]["gpu"]:
        dropped = set(pins(name)) - set(environments.gpu_pins(name).read_text().splitlines())
        assert [line.split("==")[0] for line in dropped] == ["tensorflow-cpu"] * (name == "tensorflow")


@pytest.mark.parametrize("name", ["pytorch", "tensorflow", "jax"])
def test_a_gpu_makes_another_environment_with_its_own_build(monkeypatch, tmp_path, name):
    monkeypatch.setattr(environments, "BUILD", tmp_path)
    (tmp_path / "env").mkdir()
    table, calls = PROJECT["tool"]["d2l"], []
    monkeypatch.setattr(environments, "call", lambda command, *_, **__: calls.append(" ".join(command)))
    monkeypatch.setattr(environments, "has_gpu", lambda: True)
    assert environments.on_gpu(name, table)
    assert not environments.on_gpu("mxnet", table)
    assert environments.fingerprint(name, PROJECT, True) != environments.fingerprint(name, PROJECT, False)
    for gpu in (True, False):
        environments.install("uv", name, table, "python", gpu)
    wanted = table["gpu"].get(name, f"-r requirements/{name}.txt")
    assert wanted in calls[0]
    assert table["gpu"].get(name, "nothing") not in calls[2]


def test_a_missing_compiler_is_an_error_that_names_the_cure(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(programs.SetupError, match=r"no C\+\+ compiler .* install it"):
        programs.check_compiler()


# The browser of the tests


def test_a_browser_on_path_comes_before_the_one_below_the_build_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(programs, "BUILD", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environments.find_browser() is None
    folder = tmp_path / "browsers" / "chromium_headless_shell-1"
    shell = folder / "chrome-headless-shell-linux64" / "chrome-headless-shell"
    shell.parent.mkdir(parents=True)
    shell.touch()
    assert environments.find_browser() is None  # the download is not whole
    (folder / "INSTALLATION_COMPLETE").touch()
    assert environments.find_browser() == str(shell)
    (tmp_path / "chromium-browser").touch(0o755)
    assert environments.find_browser() == str(tmp_path / "chromium-browser")


def test_without_a_browser_and_without_a_network_one_line_says_what_to_install(project):
    project.setup("docs", "jax")
    done = project.run(sys.executable, "-m", "book.setup.environments", "--browser", path="/bin-of-nobody")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        "error: the tests need Chromium, which is not on PATH: install it (Debian: apt-get install chromium), "
        "since it cannot be fetched either: no server answers. Is there a network connection? The next call tries again"
    ]


def test_a_browser_that_does_not_start_is_said_before_anything_runs(project):
    (project.tools / "chromium").write_text("#!/bin/sh\necho 'libnss3.so: not found' >&2; exit 127\n")
    (project.tools / "chromium").chmod(0o755)
    done = project.run(sys.executable, "-m", "book.setup.environments", "--browser")
    assert done.returncode == 1
    assert re.fullmatch(r"error: the Chromium in \S+ does not start: install it .*: libnss3.*\n", done.stderr)


def test_make_test_looks_for_a_browser_first():
    assert re.search(r"^test: browser ", (ROOT / "Makefile").read_text(), re.M)


# The Makefile


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_make_help_prints_every_target_with_a_line():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", text, re.M).group(1).replace("ALWAYS", "").split()
    helped = run("make", "help").stdout
    assert [t for t in phony if not re.search(rf"^make {t} +\S", helped, re.M)] == []


def test_what_is_derived_or_names_a_host_is_not_committed():
    tracked = run("git", "ls-files").stdout.splitlines()
    assert not [path for path in tracked if path.startswith("_build/") or Path(path).name == "uv.lock"]


def test_a_second_make_book_runs_no_notebook_and_writes_no_page():
    pages = ROOT / "_build" / "html"
    before = {path: path.stat().st_mtime_ns for path in pages.rglob("*.html")}
    assert before, "run `make book`"
    choice = [f"{name}={os.environ[name]}" for name in ("FRAMEWORKS", "SECTIONS") if name in os.environ]
    assert "all were up to date" in run("make", "book", *choice).stdout
    assert {path: path.stat().st_mtime_ns for path in pages.rglob("*.html")} == before
