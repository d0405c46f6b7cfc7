"""The card of this machine: the kernels of the frameworks measure it, each its part."""

import os
import subprocess

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from book import FRAMEWORKS, MODULES, BookError


def measure(framework, path, root):
    """Let the kernel's Python of `framework`, with the kernel's settings, measure what the card `path` lacks."""
    title = f"the card of this machine ({framework})"
    try:
        kernel = KernelSpecManager().get_kernel_spec(f"d2l-{framework}")
    except NoSuchKernel as error:
        raise BookError(f"{title}: no kernel {error.name}: `make setup` installs it") from None
    settings = os.environ | kernel.env | {"D2L_MACHINE_CARD": str(path)}
    command = [kernel.argv[0], "-m", "d2l_utils.card", MODULES[framework]]
    try:
        done = subprocess.run(command, cwd=root, env=settings, stderr=subprocess.PIPE, text=True)
    except OSError as error:
        raise BookError(f"{title}: the kernel does not start: {error}") from None
    if done.returncode or not path.exists():
        said = done.stderr.strip().split("\n")[-1] or f"exit status {done.returncode}"
        raise BookError(f"{title}: {FRAMEWORKS[framework]} cannot measure it: {said}")
