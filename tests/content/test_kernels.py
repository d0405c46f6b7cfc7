"""The programs of the section on kernels, and of the transformer that uses them: they compile without a warning for the
processors that the section names, and the transformer's attention and its gradients are right.
"""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from book import ROOT
from d2l_lab.instruments import native


def written_by(section):
    """Return the programs that a section writes, by their names; of those of one name the last."""
    text = (ROOT / "notebooks" / f"{section}.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^%%writefile (\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


FILES, TRANSFORMER = written_by("kernels"), written_by("fast-transformer")
PROGRAMS = [name for name in FILES if name.endswith(".c")]
STRICT = ("-O3", "-ffast-math", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function")
# As the helper calls compilers: what the processor has, and how many numbers a vector holds.
TARGETS = {
    "AVX-512": ("x86_64", "-mavx512f", 16),
    "AVX2": ("x86_64", "-mavx2 -mfma", 8),
    "SSE": ("x86_64", "-msse2", 4),
}

HEADERS = {  # what the programs use of them; those of this machine are for its own processor
    "string.h": "void *memcpy(void *, const void *, __SIZE_TYPE__);\nvoid *memset(void *, int, __SIZE_TYPE__);\n",
    "math.h": "float sqrtf(float);\nfloat fabsf(float);\n",
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


def test_the_section_has_its_programs():
    assert {"rates.c", "loops.c", "blocks.c", "product.c", "rows.c", "attention.c"} == set(PROGRAMS)


def compile_with(sources, name, compiler, *flags, lanes):
    command = [compiler, *STRICT, *flags, f"-DLANES={lanes}", "-fsyntax-only", name]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("gcc"), reason="no GCC")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gcc_compiles_a_program_without_a_warning(sources, name, target):
    machine, flags, lanes = TARGETS[target]
    if machine not in subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True).stdout:
        pytest.skip(f"GCC writes for another processor than {machine}")
    compile_with(sources, name, "gcc", *flags.split(), lanes=lanes)


@pytest.mark.parametrize("name", ["exp.h", "tile.h"])
def test_what_the_package_keeps_of_the_section_is_what_the_section_writes(name):
    assert (native.HEADERS / name).read_text(encoding="utf-8") == FILES[name]


@pytest.fixture(scope="module")
def attention(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transformer")
    for name in ("attend.h", "attention.cc"):
        (folder / name).write_text(TRANSFORMER[name])
    return folder / "attention.cc"


@pytest.mark.skipif(not shutil.which("g++"), reason="no G++")
@pytest.mark.parametrize("target", TARGETS)
def test_the_transformers_attention_compiles_without_a_warning(attention, target):
    machine, flags, lanes = TARGETS[target]
    if machine not in subprocess.run(["g++", "-dumpmachine"], capture_output=True, text=True).stdout:
        pytest.skip(f"G++ writes for another processor than {machine}")
    flags = [*flags.split(), "-std=c++17", f"-I{native.HEADERS}"]
    compile_with(attention.parent, attention.name, "g++", *flags, lanes=lanes)


def by_numpy(q, k, v, g):
    """Return causal attention of arrays of shape (B, n, h, d / h), and its gradients where that of the output is g."""
    q, k, v, g = (x.swapaxes(1, 2).astype("float64") for x in (q, k, v, g))
    scale = q.shape[-1] ** -0.5
    scores = np.where(np.tri(q.shape[2], dtype=bool), scale * q @ k.swapaxes(2, 3), -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    s = g @ v.swapaxes(2, 3)
    s = scale * p * (s - (p * s).sum(-1, keepdims=True))
    results = p @ v, s @ k, s.swapaxes(2, 3) @ q, p.swapaxes(2, 3) @ g
    return [x.swapaxes(1, 2) for x in results]


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(("B", "n", "h"), [(1, 32, 1), (2, 96, 3), (2, 256, 4)])
def test_the_transformers_attention_and_its_gradients_are_right(attention, B, n, h, parts):
    library = ctypes.CDLL(str(native.compiled(str(attention), "-std=c++17")))
    rng = np.random.default_rng(0)
    # As JAX and PyTorch hand them over, each by itself, or as in MXNet, side by side for each head.
    shape, (q, k, v) = (B, n, h, 3 * 32), range(0, 96, 32)
    rows, grads = (rng.standard_normal(shape, dtype="float32"), np.full(shape, np.nan, "float32"))
    inputs, found = ([x[..., i : i + 32] for i in (q, k, v)] for x in (rows, grads))
    if parts == 1:
        inputs, found = ([x.copy() for x in arrays] for arrays in (inputs, found))
    g, out = rng.standard_normal((B, n, h, 32), dtype="float32"), np.full((B, n, h, 32), np.nan, "float32")
    of = [ctypes.c_void_p(x.ctypes.data) for x in (*inputs, out, g, *found)]
    library.attention(*of[:4], parts, B, n, h)
    library.attention_gradient(*of[:3], *of[4:], parts, B, n, h)
    for one, two in zip([out, *found], by_numpy(*inputs, g), strict=True):
        assert np.allclose(one, two, atol=1e-4)


@pytest.mark.skipif(not shutil.which("clang"), reason="no Clang")
@pytest.mark.parametrize("triple", ["aarch64-linux-gnu", "arm64-apple-macos"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_clang_compiles_a_program_for_arm(sources, name, triple):
    for header, text in HEADERS.items():
        (sources / header).write_text(text)
    compile_with(sources, name, "clang", f"--target={triple}", "-I.", lanes=4)
