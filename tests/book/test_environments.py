"""The pins, pyproject.toml and environment.yml agree; what is out of date is made anew, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import homes
import pytest
import yaml
from packaging.specifiers import SpecifierSet

from book import FRAMEWORKS, ROOT, project
from book.setup import environments, packages, programs, system_tools
from d2l_lab.files import locked

CONTENT = project()
TABLES = CONTENT["tool"]["d2l"]["frameworks"]
NAMES = ["docs", *FRAMEWORKS]


def group(name):
    """Return the requirements of a dependency group, included groups too."""
    found = []
    for entry in CONTENT["dependency-groups"][name]:
        found += group(entry["include-group"]) if isinstance(entry, dict) else [entry]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_pins_have_one_version_the_hashes_of_its_files_and_no_host(name):
    for pin in packages.pins(name):
        hashes = "" if pin.startswith("torch==") else r"( \\\n    --hash=sha256:[0-9a-f]{64})+"
        assert re.fullmatch(rf"[a-z0-9-]+==[0-9][^ ;/]*( ; [^/\\]+)?{hashes}", pin), pin


@pytest.mark.parametrize("name", NAMES)
def test_every_requirement_of_pyproject_is_pinned(name):
    kept = {packages.without_hashes(pin).split(" ;")[0] for pin in packages.pins(name)}
    for wanted in [*group(name), *TABLES.get(name, {}).get("without-dependencies", [])]:
        package, _, version = wanted.split(";")[0].strip().partition("==")
        assert any(line == f"{package}=={version}" or not version and line.startswith(f"{package}==") for line in kept)


RESOLVED = """\
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:aa
numpy==2.4.6 ; python_full_version < '3.12' \\
    --hash=sha256:bb \\
    --hash=sha256:cc
nvidia-nccl-cu13==2.29.7 ; sys_platform == 'linux' \\
    --hash=sha256:dd
torch==2.13.0 \\
    --hash=sha256:ee
"""


def test_pins_leave_out_what_no_machine_or_only_some_install_and_give_pytorch_no_hash(tmp_path, monkeypatch):
    (tmp_path / "requirements").mkdir()
    monkeypatch.setattr(packages, "ROOT", tmp_path)
    monkeypatch.setattr(packages, "BUILD", tmp_path)
    monkeypatch.setattr(packages, "call", lambda *_: RESOLVED)
    packages.resolve_pins("uv", CONTENT)
    numpy = "numpy==2.4.6 ; python_full_version < '3.12' \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc"
    assert packages.pins("pytorch") == [numpy, "torch==2.13.0"]
    assert packages.pins("docs") == [numpy, "torch==2.13.0 \\\n    --hash=sha256:ee"]


def test_conda_gets_what_the_environments_accept():
    wanted = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (python,) = [entry.partition("=")[2] for entry in wanted if str(entry).startswith("python=")]
    for table in (CONTENT["tool"]["d2l"]["docs"], *TABLES.values()):
        assert f"{python}.1" in SpecifierSet(table["python"])
    assert [f"uv=={CONTENT['tool']['d2l']['uv']}"] == next(e for e in wanted if isinstance(e, dict))["pip"]


# Set-up with a uv that only notes what it is asked for

FAKE = Path(__file__).parent / "fake"
COPIED = ("Makefile", "README.md", "pyproject.toml", "requirements", "book", "d2l_utils", "d2l_lab", "rack", "binder")
NO_SERVER = "error: Request failed after 3 retries\n  Caused by: dns error: failed to lookup address information\n"


class Project:
    """A copy of what sets the project up, in a folder that may move, with a fake uv before all else on PATH."""

    def __init__(self, root, tools):
        self.root, self.tools, self.log = root, tools, tools / "log"
        for path in COPIED:
            copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
            copy(ROOT / path, self.root / path)
        (self.root / "notebooks" / "locale").mkdir(parents=True)
        (self.root / "notebooks" / "tiny.md").touch()
        shutil.copy(FAKE / "uv", tools)
        shutil.copy(FAKE / "python", f"{self.log}.python")
        shutil.copy(FAKE / "found", f"{self.log}.found")
        (tools / "Python.h").touch()
        Path(f"{self.log}.version").write_text("uv 99.0.0 (fake)\n")
        self.log.touch()

    def environment(self, path=os.environ["PATH"]):
        # Of the make that runs the tests.
        outer = ("MAKE", "FRAMEWORKS", "SECTIONS", "LANGUAGES", "SOLUTIONS", "BUNDLE", "CI", "INSTALL")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(outer)}
        environment |= {"PATH": f"{self.tools}:{path}", "UV_LOG": str(self.log), "PIP_FIND_LINKS": ""}
        return environment | {"CXX": sys.executable}  # as good as a compiler, as long as nothing is compiled

    def run(self, *command, **settings):
        return subprocess.run(command, cwd=self.root, env=self.environment(**settings), capture_output=True, text=True)

    def setup(self, *names):
        """Set up; return the finished process, and what was made or tried."""
        self.log.write_text("")
        done = self.run(sys.executable, "-m", "book.setup.environments", *(names or ["docs", "jax", "tensorflow"]))
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
    (tmp_path / "here").mkdir()
    (tmp_path / "tools").mkdir()
    return Project(tmp_path / "here", tmp_path / "tools")


@pytest.mark.parametrize(
    ("path", "old", "new", "made"),
    [
        ("pyproject.toml", "line-length = 120", "line-length = 99", []),
        ("pyproject.toml", "d2l_lab/tables", "d2l_lab/other", ["docs", "jax", "tensorflow"]),
        ("pyproject.toml", 'TF_CPP_MIN_LOG_LEVEL = "3"', 'TF_CPP_MIN_LOG_LEVEL = "2"', ["tensorflow"]),
        ("pyproject.toml", '"jax"\npython = ">=', '"jax"\npython = ">', ["jax"]),
        ("requirements/jax.txt", "jax==", "jax==9", ["jax"]),
        ("book/setup/environments.py", "RECIPE = ", "RECIPE = 9", ["docs", "jax", "tensorflow"]),
        ("_build/env/jax/bin/python", None, None, ["jax"]),
        ("_build/jupyter/share/jupyter/kernels/d2l-jax/kernel.json", None, None, ["jax"]),
    ],
)
def test_only_what_decides_an_environment_makes_it_anew(project, path, old, new, made):
    assert project.setup()[1] == ["docs", "jax", "tensorflow"]
    if old:
        project.edit(path, old, new)
    else:
        (project.root / path).unlink()
    done, found = project.setup()
    assert (done.stdout, found) == ("jax tensorflow\n", made)
    assert done.stderr == "".join(f"setting up: {name}\n" for name in made)


def test_in_a_moved_folder_environments_are_made_anew(project, tmp_path):
    project.setup()
    project.root = project.root.rename(tmp_path / "there")
    assert project.setup()[1] == ["docs", "jax", "tensorflow"]


def test_a_python_that_cannot_be_fetched_leaves_the_framework_out_until_it_can(project):
    python = TABLES["tensorflow"]["python"]
    project.fails(python)
    for _ in range(2):
        done, made = project.setup()
        assert (done.returncode, done.stdout) == (0, "jax\n")
        assert re.search(f"^skipped: tensorflow needs Python {python}.*network connection", done.stderr, re.M)
        assert f"python install {python}" in project.log.read_text()
    project.fails("nothing")
    done, made = project.setup()
    assert (done.stdout, made) == ("jax tensorflow\n", ["tensorflow"])


@pytest.fixture
def reader(project):
    """A function that sets up for a reader with an apt-get and a sudo that would not ask; it returns the process."""
    code = "import os, sys; os.geteuid = lambda: 1000; from book.setup.environments import main; sys.exit(main())"
    for program in ("apt-get", "sudo"):
        (project.tools / program).write_text('#!/bin/sh\necho "$0" >> "$UV_LOG"\n')
        (project.tools / program).chmod(0o755)
    for program in ("sh", "mkdir", "cp", "grep", "touch", "cat", "ls", "dirname"):
        (project.tools / program).symlink_to(shutil.which(program))

    def setup(*names, **more):
        command = [sys.executable, "-c", code, *names]
        environment = project.environment() | {"PATH": str(project.tools)} | more
        return subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True)

    return setup


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("compiler", "skipped: PyTorch needs a C++ compiler, and there is none"),
        ("headers", "skipped: pytorch needs Python >=3.11,<3.15 with header files (Python.h), "),
    ],
)
def test_what_pytorch_alone_needs_leaves_out_its_tab_alone(missing, said, project, reader):
    without = {"CXX": ""} if missing == "compiler" else {}
    if missing == "headers":
        (project.tools / "Python.h").unlink()
        project.fails("python install")
    for _ in range(2):
        done = reader("docs", "pytorch", "jax", **without)
        assert (done.returncode, done.stdout) == (0, "jax\n"), done.stderr
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("skipped")]
        assert line.startswith(said)
        assert "unless INSTALL=yes" in line
        assert "sudo apt-get install" in line
        assert "/apt-get" not in project.log.read_text()
    alone = reader("docs", "pytorch", **without)
    assert (alone.returncode, alone.stdout) == (1, "")
    assert alone.stderr.splitlines()[-1] == "error: none of these runs on this machine: docs pytorch"
    service = reader("docs", "pytorch", "jax", CI="true", **without)
    assert (service.returncode, service.stdout) == (1, "")
    assert service.stderr.splitlines()[-1].startswith(said.replace("skipped", "error"))


def test_a_python_without_header_files_is_replaced_by_one_that_has_them_for_pytorch_alone(project, reader):
    (project.tools / "Python.h").unlink()
    assert reader("docs", "pytorch", "jax").stdout == "pytorch jax\n"
    made = [line.split()[-2:] for line in project.log.read_text().splitlines() if line.startswith("venv")]
    bases = {Path(folder).name: base for base, folder in made}
    fetched, found = str(project.root / "_build" / "uv" / "python" / "python"), f"{project.log}.found"
    assert bases == {"docs": found, "pytorch": fetched, "jax": found}


def test_a_framework_without_a_wheel_is_skipped_each_time(project):
    project.edit("pyproject.toml", '"TensorFlow"\n', '"TensorFlow"\nplatforms = ["vax"]\n')
    for _ in range(2):
        done, _ = project.setup()
        assert (done.returncode, done.stdout) == (0, "jax\n")
        assert "skipped: TensorFlow has no wheel for" in done.stderr
    assert project.setup("docs", "tensorflow")[0].stderr.endswith(
        "error: none of these runs on this machine: docs tensorflow\n"
    )


def test_the_set_up_imports_the_standard_library_alone():
    code = "import book.setup.system_tools, book.setup.environments"
    subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, check=True)  # without what is installed


def test_two_calls_at_once_set_up_one_after_the_other(project):
    with locked(project.root / "_build" / ".setup.lock"):
        command = [sys.executable, "-m", "book.setup.environments", "jax"]
        second = subprocess.Popen(
            command, cwd=project.root, env=project.environment(), stderr=subprocess.PIPE, text=True
        )
        assert second.stderr.readline() == "another make is setting up: waiting until it is done\n"
        time.sleep(0.1)
        assert project.log.read_text() == ""
    assert "setting up: jax" in second.communicate(timeout=30)[1]


def test_without_a_network_make_stops_with_our_words(project):
    project.fails("pip install")
    done = project.run("make", "book", "FRAMEWORKS=jax")
    assert done.returncode != 0
    first, second, third = done.stderr.splitlines()
    assert first == "setting up: docs"
    assert re.match("error: cannot install requirements/docs.txt: no server .*network connection.* tries again", second)
    assert re.fullmatch(r"make: \*\*\* \[Makefile:\d+: setup\] Error 1", third)


def test_an_unknown_environment_is_named(project):
    done, _ = project.setup("pytroch")
    known = " ".join(FRAMEWORKS)
    assert (done.returncode, done.stderr) == (1, f"error: unknown environment 'pytroch'; known: docs {known}\n")


@pytest.mark.parametrize(
    ("variable", "wrong", "known"),
    [("FRAMEWORKS", "pytroch", " ".join(FRAMEWORKS)), ("SECTIONS", "hardwear", "tiny"), ("LANGUAGES", "hz", "en")],
)
def test_a_misspelt_name_stops_make_with_the_known_ones(project, variable, wrong, known):
    done = project.run("make", "book", f"{variable}={wrong}")
    assert done.returncode != 0
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"{wrong}. Known, separated by spaces: {known}" in done.stderr


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


@pytest.fixture
def calls(tmp_path, monkeypatch):
    """The arguments of `uv pip install`, which nothing runs."""
    found = []
    (tmp_path / "env").mkdir()
    monkeypatch.setattr(packages, "BUILD", tmp_path)
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    monkeypatch.setattr(packages, "call", lambda command, *_, **__: found.append(command[5:]))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_pinned_whole_is_installed_with_its_hashes_alone(name, calls):
    table = environments.settings_of(name, CONTENT)
    packages.install("uv", name, table, "python", False)
    options = ["--no-deps"] if "without-dependencies" in table else []
    options.append(table.get("gpu-option", "--require-hashes"))
    assert calls[0] == ["-r", f"requirements/{name}.txt", *options]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_gpu_makes_another_environment(name, monkeypatch):
    table = TABLES[name]
    monkeypatch.setattr(environments, "gpus", lambda: ["a GPU"])
    assert environments.wants_gpu(table) == ("gpu-build" in table or "gpu-option" in table)
    assert environments.fingerprint(name, CONTENT, True) != environments.fingerprint(name, CONTENT, False)


@pytest.mark.parametrize("name", [name for name in FRAMEWORKS if "gpu-build" in TABLES[name]])
def test_a_gpus_build_takes_the_place_of_that_for_the_cpu(name, calls):
    table = TABLES[name]
    packages.install("uv", name, table, "python", True)
    _, kept, build = calls[0]
    assert build == table["gpu-build"]
    dropped = set(packages.pins(name)) - set(packages.split(Path(kept).read_text()))
    assert {pin.split("==")[0] for pin in dropped} == {table[key] for key in ("cpu-build",) if key in table}
    assert any(pin.startswith(re.sub(r"\[.+\]", "", build)) for pin in packages.pins(name))


@pytest.mark.parametrize("fault", homes.FAULTS)
def test_uv_keeps_its_cache_below_the_build_folder_where_the_home_folder_cannot_be_written(
    fault, monkeypatch, tmp_path
):
    monkeypatch.setattr(programs, "BUILD", tmp_path / "_build")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("UV_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "good"))
    programs.find_cache()
    assert "UV_CACHE_DIR" not in os.environ
    monkeypatch.setenv("HOME", str(tmp_path / "bad"))
    fault(tmp_path / "bad", monkeypatch)
    programs.find_cache()
    assert os.environ.pop("UV_CACHE_DIR") == str(tmp_path / "_build" / "uv" / "cache")


# What the tests need of the system


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A system without anything: returns a function that puts a program on PATH, by default one that starts."""
    monkeypatch.setattr(programs, "BUILD", tmp_path)
    monkeypatch.setattr(system_tools, "CHECKER", tmp_path / "epubcheck.jar")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("INSTALL", raising=False)
    system_tools.fault.cache_clear()

    def put(name, script="exit 0"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)

    return put


def test_a_browser_on_path_comes_before_the_one_below_the_build_folder_unless_it_does_not_start(bare):
    assert system_tools.find_browser() is None
    older, newer = (f"browsers/chromium_headless_shell-{number}" for number in (1, 2))
    shells = [bare(f"{fetched}/chrome-headless-shell-linux64/chrome-headless-shell") for fetched in (newer, older)]
    assert system_tools.find_browser() is None  # no download is whole
    for fetched in (older, newer):
        bare(f"{fetched}/INSTALLATION_COMPLETE")
    shell = shells[0]
    assert system_tools.found_browsers() == shells
    assert system_tools.find_browser() == shell
    bare("chromium", "echo 'libnss3.so: not found' >&2; exit 127")
    assert system_tools.find_browser() == shell
    assert system_tools.find_browser() == shell == system_tools.found_browsers()[1]
    assert system_tools.find_browser() != bare("google-chrome") == system_tools.find_browser()


INSTALLS = "env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends epubcheck"
UNASKED = "make installs nothing on the system unless INSTALL=yes"


@pytest.mark.parametrize(
    ("user", "sudo", "asked", "said"),
    [
        (0, None, {}, INSTALLS),
        (1000, "exit 0", {}, UNASKED),
        (1000, "exit 0", {"INSTALL": "no"}, UNASKED),
        (1000, "exit 0", {"CI": "false"}, UNASKED),
        (1000, "exit 0", {"INSTALL": "yes"}, f"sudo -n {INSTALLS}"),
        (1000, "exit 0", {"CI": "true"}, f"sudo -n {INSTALLS}"),
        (1000, "exit 1", {"INSTALL": "yes"}, "this user may not install it"),
        (1000, None, {"INSTALL": "yes"}, "this user may not install it"),
        (None, None, {}, "this system has no apt-get"),
    ],
)
def test_debian_installs_what_is_missing_for_root_or_where_it_is_asked_to(
    user, sudo, asked, said, bare, monkeypatch, capsys
):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    for variable, value in asked.items():
        monkeypatch.setenv(variable, value)
    called = []
    monkeypatch.setattr(programs, "call", lambda command, *_: called.append(" ".join(command)))
    if user is not None:
        bare("apt-get")
    if sudo:
        bare("sudo", sudo)
    reason = system_tools.get("epubcheck")
    assert "there is none on PATH" in reason
    assert said in " ".join([reason, *called])
    assert capsys.readouterr().err == ("setting up: epubcheck, which apt-get installs\n" if called else "")
    assert bool(called) == (INSTALLS in said)
    bare("epubcheck")
    assert system_tools.get("epubcheck") == ""


def test_header_files_that_debian_left_out_are_installed_or_asked_for(bare, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    python = bare("python", f"echo 3.11; echo {tmp_path}")
    with pytest.raises(programs.LeftOutError, match="no apt-get.* sudo apt-get install python3.11-dev"):
        programs.check_headers(python)
    bare("env", 'shift; exec "$@"')
    bare("apt-get")
    with pytest.raises(programs.LeftOutError, match="python3.11-dev does not bring it"):
        programs.check_headers(python)
    bare("apt-get", f": > {tmp_path}/Python.h")
    programs.check_headers(python)


def test_a_compiler_is_installed_or_asked_for(bare, monkeypatch, tmp_path):
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    bare("apt-get")
    cures = r"unless INSTALL=yes; Debian: sudo apt-get install g\+\+; macOS: xcode-select --install"
    with pytest.raises(programs.LeftOutError, match=rf"PyTorch needs a C\+\+ compiler.* {cures}"):
        programs.check_compiler("PyTorch")
    monkeypatch.setenv("INSTALL", "yes")
    bare("sudo")
    monkeypatch.setattr(programs, "call", lambda command, *_: bare(command[-1]))
    programs.check_compiler("PyTorch")
    assert shutil.which("g++")


MISSING = (
    r"setting up: Chromium, which Playwright fetches\n{}no chromium \(there is none on PATH; it cannot be fetched: "
    r"no server answers\. .*; this system has no apt-get\), so not checked: .*: sudo apt-get install chromium\n.*"
)


@pytest.mark.parametrize(
    ("settings", "names", "status", "printed", "error"),
    [({}, [], 0, "looked", ""), ({"CI": "true"}, [], 1, "", "error: "), ({}, ["chromium"], 1, "", "error: ")],
    ids=["a reader goes without", "CI does not", "nor does what prints the PDF"],
)
def test_what_cannot_be_had_is_said_in_one_line_with_its_cure(settings, names, status, printed, error, project):
    project.setup("docs", "jax")
    command = [sys.executable, "-m", "book.setup.system_tools", *names]
    environment = project.environment(path="/bin-of-nobody") | settings
    done = subprocess.run(command, cwd=project.root, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()[:6]) == (status, printed), done.stderr
    assert "chromium" not in done.stdout
    assert re.fullmatch(MISSING.format(error), done.stderr, re.DOTALL), done.stderr
    assert done.stderr.count("\n") <= 4


# The Makefile


CHANGES = [
    (None, "sphinx -E"),
    (None, ""),
    ("d2l_utils/torch/networks.py", "sphinx"),  # its docstrings are in the API reference
    ("book/pages/_static/explorables/ring.js", "sphinx"),
    ("book/pages/_static/book.css", "sphinx"),
    ("book/pages/api.py", "sphinx -E"),
    ("book/words.py", "sphinx -E"),  # the pages' programs import it
    ("book/translations/lookup.py", "sphinx -E"),  # so does that
    ("_build/env/docs/.ready", "sphinx -E"),  # another Sphinx, or another theme
    ("book/execute.py", ""),
    ("README.md", ""),
]


def test_sphinx_is_asked_when_what_its_pages_are_made_of_has_changed(project):
    noting = "#!/bin/sh\nfor word; do [ $word = sphinx -o $word = -E ] && echo $word >> called; done; true\n"
    project.setup("docs", "jax")
    (project.root / "_build" / "env" / "docs" / "bin" / "python").write_text(noting)
    (project.root / "_build" / "html").mkdir()
    (project.root / "_build" / "merged").touch()
    found = project.root / "called"
    for path, asked in CHANGES:
        time.sleep(0.01)
        if path:
            (project.root / path).touch()
        found.write_text("")
        assert project.run("make", "book", "FRAMEWORKS=jax").returncode == 0
        assert found.read_text().split() == asked.split(), path


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_make_help_prints_every_target():
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^test: setup _build/system-tools check book ", makefile, re.M)  # a mistake shows within a minute
    targets = re.search(r"^\.PHONY: (.+)$", makefile, re.M).group(1).replace("ALWAYS", "").split()
    helped = run("make", "help").stdout
    assert [target for target in targets if not re.search(rf"^make {target} +\S", helped, re.M)] == []


def test_what_is_derived_or_names_a_host_is_not_committed():
    tracked = run("git", "ls-files").stdout.splitlines()
    if not tracked:
        pytest.skip("this copy of the project has no history, so nothing in it is committed")
    assert not [path for path in tracked if path.startswith("_build/") or Path(path).name == "uv.lock"]
