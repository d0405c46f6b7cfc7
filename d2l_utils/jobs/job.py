"""Processes that a cell starts: their output in the cell, a deadline, and none of them outlives the cell.

Between the notebook and the ranks stands `supervisor.py`, which ends them even when the notebook's kernel is killed.
"""

import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Condition, Thread

from d2l_utils.jobs.processes import BOUND, FOLDER, GRACE, end, exposed, marked

__all__ = ["launch", "Job", "return_value", "free_ports", "exposed"]

PROJECT = Path(__file__).parents[2]
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


def launch(command, n=None, **options):
    """Start n processes, wait for them, and return what each handed back, in the order of ranks.

    The parameters are those of `Job`. What a rank prints appears in the cell behind its rank. RuntimeError, once all
    processes are ended, if one fails, if they take longer than `deadline` seconds, or if one listens on an address
    that other machines can reach. A process of the job calls `return_value(value)`; one that does not counts as None.
    """
    with Job(command, n, **options) as job:
        return job.wait()


def return_value(value):
    """Give the cell that launched this process a value, such as a dictionary of numbers, lists and NumPy arrays.

    It is pickled under the process's RANK; RuntimeError in a process that `launch` did not start.
    """
    if FOLDER not in os.environ:
        raise RuntimeError("return_value works only in a process that launch started")
    path = Path(os.environ[FOLDER], os.environ["RANK"])
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(value))
    os.replace(unfinished, path)


def free_ports(n):
    """Return n ports that are free on 127.0.0.1 at the moment."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(n)]
        return [one.getsockname()[1] for one in sockets]


class Job:
    """n processes that run as long as the `with` block, which ends them.

    command        a script of Python ("worker.py"), a list of a program or script and its arguments, or a list of n
                   such lists
    environment    variables for all ranks, or a list of n dictionaries. The defaults suit collectives on this machine:
                   RANK, WORLD_SIZE=n, MASTER_ADDR=127.0.0.1, a free MASTER_PORT, one thread for OpenMP
    deadline       seconds after which all are ended
    may_fail       ranks whose failure does not end the others; those that `kill` names are added
    loopback_only  whether a socket that listens beyond this machine ends all. They are looked for four times a second

    `status` holds for each rank None while it runs, then its exit status or the negative number of the signal that
    ended it; `output` its lines.
    """

    def __init__(self, command, n=None, *, environment=None, deadline=120, may_fail=(), loopback_only=True):
        if not deadline > 0:
            raise ValueError(f"a deadline is a number of seconds above 0, not {deadline!r}")
        commands, environments = _per_rank(command, environment or {}, n)
        self._told = {
            "commands": [_words(one) for one in commands],
            "environments": _environments(environments),
            "place": os.getcwd(),
            "deadline": deadline,
            "may_fail": list(may_fail),
            "loopback_only": loopback_only,
        }
        self.status, self.output = [None] * len(commands), [[] for _ in commands]
        self._failure, self._over, self._changed = "", False, Condition()

    def __enter__(self):
        self._folder = tempfile.mkdtemp(prefix="d2l-launch-")
        program = [sys.executable, "-m", f"{__package__}.supervisor"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        # In a session of its own: an interrupt from the keyboard, or a signal to the kernel's group, is not for it.
        self._supervisor = subprocess.Popen(program, cwd=PROJECT, start_new_session=True, **pipes)
        self._reader = Thread(target=self._follow, daemon=True)
        self._reader.start()
        self._order(json.dumps(self._told | {"folder": self._folder}))
        return self

    def __exit__(self, kind, *_):
        with suppress(OSError):
            self._supervisor.stdin.close()
        try:
            self._supervisor.wait(GRACE + BOUND + 5)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
        self._reader.join()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._failure and kind is None:
            raise RuntimeError(self._failure)
        if self._failure and kind is not RuntimeError:
            print(self._failure, file=sys.stderr)

    def wait(self, *ranks):
        """Wait until these ranks have ended, by default all, and return what each rank of the job handed back.

        RuntimeError if the job has failed.
        """
        self._until(lambda: ranks and all(self.status[rank] is not None for rank in ranks))
        files = [path for path in Path(self._folder).iterdir() if path.name.isdigit()]
        handed = {int(path.name): path.read_bytes() for path in files}
        # torchrun is one process with ranks of its own
        number = max([len(self.status), *(rank + 1 for rank in handed)])
        return [pickle.loads(handed[rank]) if rank in handed else None for rank in range(number)]

    def wait_for_line(self, rank, text):
        """Return the first line of a rank that contains the text, once it is there; RuntimeError if it never comes."""
        self._until(lambda: self._lines(rank, text) or self.status[rank] is not None)
        if not (lines := self._lines(rank, text)):
            raise RuntimeError(f"rank {rank} ended without a line that contains {text!r}")
        return lines[0]

    def kill(self, rank):
        """Kill a rank by SIGKILL and wait until it has ended; that is no failure of the job."""
        self._order(str(range(len(self.status))[rank]))
        self._until(lambda: self.status[rank] is not None)

    def _order(self, text):
        with suppress(OSError):  # the supervisor is gone, which `_follow` reports
            self._supervisor.stdin.write(f"{text}\n")
            self._supervisor.stdin.flush()

    def _lines(self, rank, text):
        return [line for line in self.output[rank] if text in line]

    def _until(self, condition):
        with self._changed:
            self._changed.wait_for(lambda: self._over or condition())
        if self._failure:
            raise RuntimeError(self._failure)

    def _follow(self):
        """Print and note what the supervisor says, in a thread; if it dies, end what it leaves behind."""
        with self._supervisor.stdout as events:
            for event in events:
                if event.endswith("\n"):  # else the supervisor was killed while it wrote
                    self._note(json.loads(event))
        if not self._over:
            left = end(lambda: marked(self._folder))
            said = "the process that watches the ranks has died" + (f"; {len(left)} of them are left" if left else "")
            self._note({"reason": said, "ended": []})

    def _note(self, event):
        if "line" in event:
            with suppress(OSError, ValueError):  # a closed stream must not keep us from reading on
                getattr(sys, event["stream"]).write(f"[{event['rank']}] {event['line']}\n")
        with self._changed:
            if "line" in event:
                self.output[event["rank"]].append(event["line"])
            elif "status" in event:
                self.status[event["rank"]] = event["status"]
            else:
                self.status[: len(event["ended"])] = event["ended"]
                self._failure, self._over = event["reason"], True
            self._changed.notify_all()


def _per_rank(command, environment, n):
    """Return a command and an environment for each rank, out of one for all or a list of them."""
    lists = {}
    if isinstance(command, list) and all(isinstance(words, list) for words in command):
        lists["commands"] = command
    if isinstance(environment, list):
        lists["environments"] = environment
    n = n if n is not None else len(next(iter(lists.values()), [0]))
    if n < 1 or any(len(given) != n for given in lists.values()):
        given = "".join(f", {len(given)} {name}" for name, given in lists.items())
        raise ValueError(f"launch starts at least one process, with one command and environment for each: n={n}{given}")
    return lists.get("commands", [command] * n), lists.get("environments", [environment] * n)


def _words(command):
    """Return a command as words, a script's behind this Python; FileNotFoundError if it cannot be run."""
    words = [str(word) for word in ([command] if isinstance(command, str | Path) else command)]
    if words[0].endswith(".py"):
        if not Path(words[0]).is_file():
            raise FileNotFoundError(f"there is no script {words[0]!r} in {os.getcwd()}")
        return [sys.executable, *words]
    if not shutil.which(words[0]):
        raise FileNotFoundError(f"{words[0]!r} is no script (its name ends in .py) and no program that can be run")
    return words


def _environments(given):
    """Return each rank's variables: the defaults, and over them what is given."""
    common = {"WORLD_SIZE": len(given), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_ports(1)[0]}
    common |= {"OMP_NUM_THREADS": 1, "GLOO_SOCKET_IFNAME": LOOPBACK, "PYTHONUNBUFFERED": 1}
    merged = [common | {"RANK": rank} | dict(one) for rank, one in enumerate(given)]
    return [{name: str(value) for name, value in one.items()} for one in merged]
