"""The programs in C of the section on kernels: they compile without a warning for the processors that it names."""

import re
import shutil
import subprocess

import pytest

from book import ROOT

TEXT = (ROOT / "notebooks" / "kernels.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^%%writefile (\S+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
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


@pytest.mark.skipif(not shutil.which("clang"), reason="no Clang")
@pytest.mark.parametrize("triple", ["aarch64-linux-gnu", "arm64-apple-macos"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_clang_compiles_a_program_for_arm(sources, name, triple):
    for header, text in HEADERS.items():
        (sources / header).write_text(text)
    compile_with(sources, name, "clang", f"--target={triple}", "-I.", lanes=4)
