"""Devices for tests: a GPU that nothing is computed on, and what a device is called."""

import re
from dataclasses import dataclass


@dataclass
class FakeGPU:
    """A GPU as TensorFlow and JAX describe one."""

    i: int
    platform: str = "gpu"

    def __str__(self):
        return f"cuda:{self.i}"


def name(device):
    return getattr(device, "_device_name", str(device)).lower()


def number(device):
    return re.search(r"\d+", name(device).split("device:")[-1]).group()
