"""What this machine is: the facts that stand beside each measurement."""

import os
import platform
import shutil
import subprocess
from pathlib import Path


def describe():
    """Return a dict of cpu (model), cores and memory_gb (both what may be used), gpus (a list) and system."""
    return {'cpu': cpu(), 'cores': cores(), 'memory_gb': memory(), 'gpus': gpus(), 'system': system()}


def cpu():
    """Return the name of the processor's model."""
    information = Path('/proc/cpuinfo')
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith('model name'):
                return ' '.join(line.partition(':')[2].split())
    if platform.system() == 'Darwin':
        return answer('sysctl', '-n', 'machdep.cpu.brand_string')
    return platform.processor() or platform.machine()


def cores():
    """Return the number of cores that this process may use."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()
    quota, _, period = limit('cpu.max').partition(' ')
    return max(1, min(number, round(int(quota) / int(period)))) if quota.isdigit() else number


def memory():
    """Return the memory in GiB that this process may use."""
    size = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    allowed = limit('memory.max')
    return round(min(size, int(allowed) if allowed.isdigit() else size) / 2**30)


def limit(name):
    """Return what the control group says on `name`, or ''."""
    path = Path('/sys/fs/cgroup') / name
    return path.read_text().strip() if path.exists() else ''


def gpus():
    """Return the names of the NVIDIA GPUs."""
    return answer('nvidia-smi', '--query-gpu=name', '--format=csv,noheader').splitlines()


def system():
    """Return the name of the operating system."""
    try:
        return platform.freedesktop_os_release()['PRETTY_NAME']
    except (OSError, AttributeError, KeyError):
        return platform.platform(terse=True)


def answer(*command):
    """Return what `command` prints, or '' when it cannot."""
    if not shutil.which(command[0]):
        return ''
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ''
