"""What of a machine and its environment decides whether a notebook runs again; test_execute has it run."""

import re

import pytest
from tiny import MACHINE

from book import ROOT
from book.run_keys import Kernel, environment_facts, packages, python_version, settings, versions

DECISIVE = """
D2L_QUICK=1 D2L_TEST=1 OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive KMP_BLOCKTIME=0 MKL_ENABLE_INSTRUCTIONS=SSE4_2
OPENBLAS_CORETYPE=Haswell XLA_FLAGS=--xla_cpu_multi_thread_eigen=false JAX_ENABLE_X64=1 TF_ENABLE_ONEDNN_OPTS=0
TORCHINDUCTOR_MAX_AUTOTUNE=1 PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync MXNET_EXEC_BULK_EXEC_TRAIN=0
CUDA_VISIBLE_DEVICES= NVIDIA_TF32_OVERRIDE=0 NUMBA_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=65536
GLIBC_TUNABLES=glibc.malloc.mmap_max=0 LD_PRELOAD=libjemalloc.so.2 NPROC=1
"""
INDIFFERENT = """
D2L_MACHINE_PROFILE=/elsewhere/machine.json D2L_STRICT=1 JAX_COMPILATION_CACHE_DIR=/elsewhere
TORCH_HOME=/elsewhere TF_CLI_CONFIG_FILE=/elsewhere/.terraformrc MPLCONFIGDIR=/elsewhere http_proxy=http://proxy
LANG=zh_CN.UTF-8
"""


@pytest.mark.parametrize("setting", DECISIVE.split())
def test_a_variable_that_decides_what_kernels_compute_is_a_setting(setting):
    variable, _, value = setting.partition("=")
    assert settings({variable: value}, ROOT) == {variable: value}


@pytest.mark.parametrize("setting", INDIFFERENT.split())
def test_no_other_variable_is_a_setting(setting):
    assert settings(dict([setting.split("=", 1)]), ROOT) == {}


def test_a_variable_that_the_kernel_itself_sets_counts_as_it_sets_it(monkeypatch):
    found = []
    for root, threads in ((ROOT, "2"), (ROOT / "tests", "4")):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={root}/dumps")
        kernel = Kernel("mxnet", "python", {"OMP_NUM_THREADS": "1"}, "", "3.11.9", {})
        found.append(environment_facts(root, kernel, {"machine": MACHINE})["settings"])
    assert found[0] == found[1]
    assert found[0]["OMP_NUM_THREADS"] == "1"


def test_what_the_makefile_exports_to_all_programs_decides_no_run():
    exported = re.findall(r"^export (\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(exported) > 5
    assert settings(dict.fromkeys(exported, "1"), ROOT) == {}


def test_the_version_of_python_is_read_without_starting_it(tmp_path):
    assert python_version(tmp_path) == ""
    for line in ("version_info = 3.12.4", "version = 3.12.4"):  # uv's words, and those of venv
        (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\n{line}\n")
        assert python_version(tmp_path) == "3.12.4"


def test_what_is_installed_is_read_without_importing_it(tmp_path):
    for name in ("torch-2.13.0+cu130", "Numpy-2.4.0", "tensorflow_cpu-2.21.0"):
        (tmp_path / "lib/python3.11/site-packages" / f"{name}.dist-info").mkdir(parents=True)
    installed = packages(tmp_path)
    assert versions("pytorch", installed) == {"torch": "2.13.0+cu130", "numpy": "2.4.0"}
    assert versions("tensorflow", installed) == {"tensorflow": "2.21.0", "numpy": "2.4.0"}
