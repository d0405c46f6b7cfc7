"""The card of this machine: what it can do, measured once and kept in `_build/machine.json` of the project.

An installed package keeps it in `~/.cache/d2l`. The environment variable D2L_MACHINE_CARD names another file. Its parts
are measured anew when they are out of date: on another machine, after a change of the code that measures, with another
version of the framework.
`python -m d2l_utils.card torch` measures what the card lacks for one framework, and imports it only then.
"""

import hashlib
import importlib
import json
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from datetime import date
from importlib import metadata
from pathlib import Path

from .machine import cores, describe

try:
    import fcntl
except ImportError:  # Windows has none: two processes at once may then measure twice
    fcntl = None

FORM = 1
COMMON = ("machine", "date", "caches", "bandwidth", "latency", "product")
PART = ("name", "version", "dispatch", "product")
# A library counts the machine's cores by itself, also those that a container's quota withholds.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
HERE = Path(__file__).parent


def card(module, name, measure):
    """Return the card for the framework `name`, whose module here is `module`; measure first what it lacks.

    Where nothing is kept this takes some seconds; RuntimeError if the machine cannot be measured.
    `measure()` returns the framework's part {dispatch, product, gpus}. The result, all figures in SI units:

    machine    {cpu, cores, memory_gb, gpus: names, system}, and date, the day it was measured
    caches     [{level, kind, bytes, shared_by}, …] as the system reports them
    bandwidth  {"one core", "all cores"}: bytes/s of STREAM's triad over three arrays of 64 MiB or more, which a very
               large last cache may hold
    latency    {bytes of the working set, as text: seconds of a load that the next one waits for}
    product    {"float32"}: flop/s of NumPy
    framework  {name, version, dispatch: seconds of a tiny operation, product: {"float32", "bfloat16"}}
    gpus       [{name, bandwidth: bytes/s read and written by a copy, product}, …]

    A type of number in which the framework computes slowly here, or not at all, is left out of `product`. On a GPU
    that has TF32, TensorFlow and JAX use it for float32 products unless told otherwise, PyTorch does not.
    """
    path = place()
    kept = read(path)
    if not lacks(kept, module):
        return _answer(kept, module)
    with _alone(path):
        kept = read(path)  # another process may have measured while this one waited
        if lacks(kept, module):
            print(f"measuring this machine for {name}: once", flush=True)
            kept = _measured(kept, module, name, measure)
            _write(path, kept)
    return _answer(kept, module)


def place():
    """Return the path of the card: below the project, or for an installed package below the reader's home."""
    if told := os.environ.get("D2L_MACHINE_CARD"):
        return Path(told)
    project = HERE.parent
    folder = project / "_build" if (project / "pyproject.toml").exists() else Path.home() / ".cache" / "d2l"
    return folder / "machine.json"


def read(path):
    """Return what the file holds, or {} if it is missing, damaged or of another form."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) and kept.get("form") == FORM else {}


def lacks(kept, module):
    """Tell what `kept` lacks or has out of date: 'everything', 'framework' or ''."""
    if (kept.get("code"), kept.get("machine")) != (_code("machine", "kernels"), describe()):
        return "everything"
    if not kept.keys() >= {*COMMON, "frameworks"}:
        return "everything"
    part = kept["frameworks"].get(module, {})
    current = (_code(module, "timing"), version(module))
    fresh = (part.get("code"), part.get("version")) == current and part.keys() >= {*PART, "gpus"}
    return "" if fresh else "framework"


def version(module):
    """Return the installed version of a framework."""
    for name in (module, f"{module}-cpu"):
        with suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return "unknown"


def _code(*modules):
    """Return a hash of these modules' sources."""
    return hashlib.sha256(b"\0".join((HERE / f"{module}.py").read_bytes() for module in modules)).hexdigest()


def _measured(kept, module, name, measure):
    """Return `kept` with what it lacked."""
    today = date.today().isoformat()
    if lacks(kept, module) == "everything":
        found = {"form": FORM, "code": _code("machine", "kernels"), "date": today, "machine": describe()}
        kept = found | _measure_common() | {"frameworks": {}}
    part = {"name": name, "version": version(module), "code": _code(module, "timing"), "date": today} | measure()
    return kept | {"frameworks": kept["frameworks"] | {module: part}}


def _measure_common():
    """Measure in a process of its own, where no framework's threads run and NumPy has one for each core."""
    settings = os.environ | dict.fromkeys(THREADS, str(cores()))
    command = [sys.executable, "-m", f"{__package__}.machine"]
    try:
        done = subprocess.run(command, cwd=HERE.parent, env=settings, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        raise RuntimeError("this machine cannot be measured in 300 s") from None
    if done.returncode:
        said = done.stderr.strip().split("\n")[-1] or f"exit status {done.returncode}"
        raise RuntimeError(f"this machine cannot be measured: {said}")
    return json.loads(done.stdout)


def _answer(kept, module):
    part = kept["frameworks"][module]
    return {key: kept[key] for key in COMMON} | {"framework": {key: part[key] for key in PART}, "gpus": part["gpus"]}


@contextmanager
def _alone(path):
    """Wait until no other process measures for this file; where no lock can be made, go on."""
    lock = None
    try:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR)
            if fcntl:
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _write(path, kept):
    """Put the card in place in one step, or print why that cannot be done."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        print(f"the card is not kept: {path} cannot be written ({error.strerror})", flush=True)
        with suppress(OSError):
            unfinished.unlink()


if __name__ == "__main__":
    if lacks(read(place()), sys.argv[1]):
        importlib.import_module(f"{__package__}.{sys.argv[1]}").your_machine()
