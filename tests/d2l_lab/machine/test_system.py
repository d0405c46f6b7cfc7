"""What the system says of itself."""

import subprocess

import pytest

from d2l_lab.machine import system

GIB = 2**30


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"{text}\n")


@pytest.mark.parametrize(("siblings", "sharing"), [(None, (None, None)), ("0,8", (1, 4)), ("0", (2, 8))])
def test_caches_are_read_from_the_folder_of_linux(tmp_path, monkeypatch, siblings, sharing):
    monkeypatch.setattr(system.platform, "system", lambda: "Linux")
    reported = [("1", "Data", "48K", "0,8"), ("3", "Unified", "32M", "0-3,8-11"), ("4", "Unified", "1G"), ("5",)]
    for i, texts in enumerate(reported):
        names = ("level", "type", "size", "shared_cpu_list")
        write(tmp_path / f"cache/index{i}", dict(zip(names, texts, strict=False)))
    if siblings:
        write(tmp_path / "topology", {"thread_siblings_list": siblings})
    assert system.caches(tmp_path / "cache") == [
        {"level": 1, "kind": "data", "bytes": 48 * 2**10, "shared_by": sharing[0]},
        {"level": 3, "kind": "unified", "bytes": 32 * 2**20, "shared_by": sharing[1]},
        {"level": 4, "kind": "unified", "bytes": 2**30, "shared_by": None},
    ]
    assert system.caches(tmp_path / "none") == []


@pytest.mark.parametrize(
    ("fast", "data", "unified"),
    [({}, 2**16, 2**22), ({"hw.perflevel0.l1dcachesize": 2**17, "hw.perflevel0.l2cachesize": 2**24}, 2**17, 2**24)],
)
def test_caches_on_macos_are_those_of_the_fast_cores_where_there_are_two_kinds(fast, data, unified, monkeypatch):
    monkeypatch.setattr(system.platform, "system", lambda: "Darwin")
    sizes = {"hw.l1dcachesize": 2**16, "hw.l1icachesize": 2**17, "hw.l2cachesize": 2**22} | fast
    monkeypatch.setattr(system, "output_of", lambda *command: str(sizes.get(command[-1], "")))
    assert [(cache["level"], cache["bytes"]) for cache in system.caches()] == [(1, data), (1, 2**17), (2, unified)]


@pytest.mark.parametrize(
    ("line", "length", "bits"),
    [
        ("flags\t\t: fpu sse2 avx2 fma avx512f", "", 512),
        ("flags\t\t: fpu sse2 avx2 fma", "", 256),
        ("Features\t: fp asimd sve", "32", 256),
        ("Features\t: fp asimd sve", "", 128),
        ("Features\t: fp asimd", "16", 128),
        ("", "", 128),
    ],
)
def test_the_widest_vectors_are_those_that_the_flags_name_and_never_below_128_bits(
    line, length, bits, tmp_path, monkeypatch
):
    monkeypatch.setattr(system.platform, "system", lambda: "Linux")
    write(tmp_path, {"cpuinfo": line, "sys/abi/sve_default_vector_length": length})
    assert system.vector_bits(tmp_path) == bits


@pytest.mark.parametrize(("named", "bits"), [((), 128), (("avx2_0",), 256), (("avx2_0", "avx512f"), 512)])
def test_macos_names_vectors_among_its_optional_features(named, bits, monkeypatch):
    monkeypatch.setattr(system.platform, "system", lambda: "Darwin")
    names = {f"hw.optional.{name}" for name in named}
    monkeypatch.setattr(system, "output_of", lambda *command: "1" if command[-1] in names else "")
    assert system.vector_bits() == bits


V1, V2 = "{} cgroup cgroup rw,{}", "{} cgroup2 cgroup2 rw"
QUOTA = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
HUGE = 2**63 - 4096  # what version 1 says where there is no limit


def limits(group, cpu, memory):
    """The files of a group: its version 2's if `cpu` is one text, else version 1's."""
    if isinstance(cpu, str):
        return {f"{group}/cpu.max": cpu, f"{group}/memory.max": memory}
    return {f"{group}/{name}": number for name, number in zip(QUOTA, cpu, strict=True)} | {
        f"{group}/memory.limit_in_bytes": memory
    }


@pytest.mark.parametrize(
    ("own", "roots", "groups", "found"),
    [
        ("0::/a/b", {"v2": "/"}, [("v2", "max 100000", "max")], (96, 100)),
        ("0::/a/b", {"v2": "/"}, [("v2/a", "150000 100000", 3 * GIB), ("v2/a/b", "max 100000", 2 * GIB)], (1, 2)),
        ("0::/a/b", {"v2": "/"}, [("v2/a", "250000 100000", 3 * GIB), ("v2/a/b", "300000 100000", "max")], (2, 3)),
        ("0::/", {"v2": "/"}, [("v2", "50000 100000", 2 * GIB), ("v2/a", "max 100000", 1)], (1, 2)),
        ("0::/../other", {"v2": "/"}, [("v2", "765000 100000", 2 * GIB)], (7, 2)),
        ("3:cpu,cpuacct,memory:/a", {"cpu,memory": "/"}, [("cpu,memory/a", (765000, 100000), HUGE)], (7, 100)),
        ("3:cpu,memory:/a", {"cpu,memory": "/"}, [("cpu,memory/a", (-1, 100000), HUGE)], (96, 100)),
        ("3:cpu,memory:/a/b", {"cpu,memory": "/"}, [("cpu,memory/a", (50000, 100000), 2 * GIB)], (1, 2)),
        ("3:cpu,memory:/docker/c", {"cpu,memory": "/docker/c"}, [("cpu,memory", (200000, 50000), 2 * GIB)], (4, 2)),
        ("3:cpu,memory:/docker/c", {"cpu,memory": "/"}, [("cpu,memory", (200000, 50000), 2 * GIB)], (4, 2)),
        ("3:cpu,memory:/a\n0::/", {"cpu,memory": "/", "v2": "/"}, [("cpu,memory/a", (300000, 100000), GIB)], (3, 1)),
        ("3:cpu,memory:/a", {"freezer": "/"}, [("freezer/a", (100000, 100000), GIB)], (96, 100)),
        ("", {"v2": "/"}, [("v2", "200000 100000", GIB)], (2, 1)),
        ("0::/a", {}, [], (96, 100)),
    ],
)
def test_the_narrowest_control_group_around_this_process_counts(own, roots, groups, found, tmp_path, monkeypatch):
    mounts = []
    for name, root in roots.items():
        place = f"31 23 0:28 {root} {tmp_path}/{name} rw shared:9 -"
        mounts.append(V2.format(place) if name == "v2" else V1.format(place, name))
    write(tmp_path, {"cgroup": own, "mountinfo": "1 0 0:1 / / rw - overlay overlay rw\n" + "\n".join(mounts)})
    for group, cpu, memory in groups:
        write(tmp_path, limits(group, cpu, memory))
    read = system.control_groups
    monkeypatch.setattr(system, "control_groups", lambda controller: read(controller, tmp_path))
    monkeypatch.setattr(system, "usable", lambda: range(96))
    monkeypatch.setattr(system.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 100 * GIB // 4096}.get)
    assert (system.cores(), system.memory()) == found


def test_a_mask_of_one_cpu_leaves_one(monkeypatch):
    monkeypatch.setattr(system, "control_groups", lambda controller: [])
    monkeypatch.setattr(system.os, "sched_getaffinity", lambda process: {5}, raising=False)
    assert (system.usable(), system.cores()) == ([5], 1)
    monkeypatch.delattr(system.os, "sched_getaffinity")
    monkeypatch.setattr(system.os, "cpu_count", lambda: 3)
    assert (system.usable(), system.cores()) == ([0, 1, 2], 3)


def test_a_command_that_cannot_answer_answers_nothing(monkeypatch):
    run = subprocess.run
    monkeypatch.setattr(system.subprocess, "run", lambda *a, timeout, **k: run(*a, timeout=timeout / 100, **k))
    assert system.output_of("echo", "yes") == "yes"
    assert system.output_of("sleep", "60") == system.output_of("false") == system.output_of("no-such-command") == ""


@pytest.mark.parametrize(
    ("script", "names"), [("printf 'A100\\nH100\\n'", ["A100", "H100"]), ("exit 9", []), (None, [])]
)
def test_the_gpus_are_those_that_nvidias_program_lists(tmp_path, monkeypatch, script, names):
    if script:
        write(tmp_path, {"nvidia-smi": f"#!/bin/sh\n{script}"})
        (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert system.gpus() == names
