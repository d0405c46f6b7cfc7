"""Processes that a cell starts: their output in the cell, a deadline, and none of them outlives the cell.

Between the notebook and the ranks stands `supervisor.py`, which ends them even when the notebook's kernel is killed.
"""

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from types import TracebackType
from typing import Any

from d2l_lab.files import write_atomically
from d2l_lab.instruments.words import say
from d2l_lab.processes import namespace
from d2l_lab.processes.commands import argv, environments, per_rank, without_proxies
from d2l_lab.processes.control import BOUND, FOLDER, GRACE, end_all, processes_of_launch, signal_name
from d2l_lab.processes.output import Output, Search

PROJECT = Path(__file__).parents[2]
IF_POSSIBLE = "if possible"


def launch(command: Any, n: int | None = None, **options: Any) -> list[Any]:
    """Start n processes, wait for them, and return the values that they returned.

    Each line that a rank prints appears in the cell behind its rank, a progress bar as its last frame.

    Parameters
    ----------
    command, n, **options
        As for `Job`.

    Returns
    -------
    list
        For each rank what it passed to `return_value`, or None if it did not call that.

    Raises
    ------
    RuntimeError
        Once all processes have been ended: if one failed, if they took longer than the deadline, or if one listened
        on an address that other machines can reach.
    """
    with Job(command, n, **options) as job:
        return job.wait()


def _ending(rank: int, status: int | None) -> str:
    """Return how a rank ended, in the notebook's language."""
    if status is None:
        return say("rank {rank} still runs", rank=rank)
    if status < 0:
        return say("rank {rank} was ended by {signal}", rank=rank, signal=signal_name(-status))
    return say("rank {rank} ended with status {status}", rank=rank, status=status)


def return_value(value: Any) -> None:
    """Return a value to the cell that launched this process: a dictionary of numbers, lists and arrays, for example.

    It is pickled under the process's RANK; the last call counts.

    Raises
    ------
    RuntimeError
        In a process that `launch` did not start.
    """
    if FOLDER not in os.environ:
        raise RuntimeError("return_value works only in a process that launch started")
    write_atomically(Path(os.environ[FOLDER], os.environ["RANK"]), pickle.dumps(value))


class Job:
    """n processes that run as long as the `with` block, which ends them. A job runs once.

    Parameters
    ----------
    command
        A script of Python ("worker.py"), a list of a program or script and its arguments, or a list of n such lists.
    n
        The number of processes; by default the length of a list of commands or environments, else 1.
    environment
        Variables for all ranks, or a list of n dictionaries. The defaults suit collectives on this machine: RANK,
        WORLD_SIZE=n, HOSTS with a free "127.0.0.1:port" for each rank, separated by commas, MASTER_ADDR=127.0.0.1, one
        more free port as MASTER_PORT, one thread for OpenMP, and D2L_LAUNCH_KEY, the random secret by which the
        processes of one job know each other (`d2l_lab.collectives.meeting`). Variables of proxies, such as https_proxy,
        are not passed on, since ranks talk over loopback; a rank that needs one gets it here.
    deadline
        Seconds after which all processes are ended.
    may_fail
        Ranks whose failure does not end the others. Those that `kill` names are added.
    isolated
        For programs that listen on every network, as TensorFlow's servers do: run all ranks in a network of their own,
        whose loopback nothing else can reach. Where the system has none to give, True is refused when the job starts;
        "if possible" lets the ranks run without it, so that other machines can reach them, and prints a line that says
        so. If False, a process that listens on another address than loopback ends the job, within a second.

    Attributes
    ----------
    status : list
        For each rank None while it runs, then its exit status, or the negative number of the signal that ended it.
    """

    def __init__(
        self,
        command: Any,
        n: int | None = None,
        *,
        environment: dict[str, Any] | list[dict[str, Any]] | None = None,
        deadline: float = 120,
        may_fail: Iterable[int] = (),
        isolated: bool | str = False,
    ) -> None:
        if not deadline > 0:
            raise ValueError(f"a deadline is a number of seconds above 0, not {deadline!r}")
        if isolated not in (True, False, IF_POSSIBLE):
            raise ValueError(f"isolated is True, False or {IF_POSSIBLE!r}, not {isolated!r}")
        commands, variables = per_rank(command, environment or {}, n)
        self._config = {
            "commands": [argv(one) for one in commands],
            "environments": environments(variables),
            "place": os.getcwd(),
            "deadline": deadline,
            "may_fail": list(may_fail),
            "isolated": bool(isolated),
        }
        self._must_be_isolated = isolated != IF_POSSIBLE
        self.status: list[int | None] = [None] * len(commands)
        self._outputs = [Output(rank) for rank in range(len(commands))]
        self._supervisor: Any = None  # a subprocess.Popen whose pipes are open
        self._failure, self._entered, self._over = "", False, False
        self._changed = Condition()

    def __enter__(self) -> "Job":
        if self._entered:
            raise RuntimeError("a Job runs once: make a new one to run its processes again")
        self._entered = True
        program = self._program()
        self._folder = tempfile.mkdtemp(prefix="d2l-launch-")
        # In a session of its own: an interrupt from the keyboard, or a signal to the kernel's group, is not for it.
        self._supervisor = subprocess.Popen(
            program,
            cwd=PROJECT,
            env=without_proxies(os.environ),
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = Thread(target=self._follow, daemon=True)
        self._reader.start()
        self._request(self._config | {"folder": self._folder})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
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

    @property
    def output(self) -> list[list[str]]:
        """For each rank the lines that it has printed, as a terminal would show them, but without colours.

        Of a progress bar that is the last frame. The cell shows the first 1000 lines of each stream, and here are all;
        of more than some 50 MB the newest.
        """
        with self._changed:
            return [output.lines() for output in self._outputs]

    @property
    def endings(self) -> str:
        """How the ranks ended, in words: "rank 0 ended with status 1, rank 1 was ended by SIGKILL"."""
        return say(", ").join(_ending(rank, status) for rank, status in enumerate(self.status))

    def wait(self, *ranks: int) -> list[Any]:
        """Wait until these ranks, by default all, have ended, and return what each rank of the job returned.

        Raises
        ------
        RuntimeError
            If the job has failed.
        """
        self._until(lambda: bool(ranks) and all(self.status[rank] is not None for rank in ranks))
        returned = {}
        for path in Path(self._folder).iterdir():
            if path.name.isdigit():  # else it is still being written
                returned[int(path.name)] = pickle.loads(path.read_bytes())
        number = max([len(self.status), *(rank + 1 for rank in returned)])  # torchrun is one process with several ranks
        return [returned.get(rank) for rank in range(number)]

    def wait_for_line(self, rank: int, text: str) -> str:
        """Wait for a line of a rank that contains the text, and return the first such line.

        All that the rank prints is searched, whether the cell shows it or not. A frame of a progress bar counts as a
        line as soon as the next frame begins, although it is written over then.

        Raises
        ------
        RuntimeError
            If the rank ends without it, or the job fails.
        """
        output, search = self._outputs[rank], Search(text)
        with self._changed:
            search.look(line for line, _ in output.kept)
            output.searches.append(search)
        self._until(lambda: search.found is not None or self.status[rank] is not None)
        with self._changed:
            output.searches.remove(search)
        if search.found is None:
            raise RuntimeError(f"rank {rank} ended without a line that contains {text!r}")
        return search.found

    def kill(self, rank: int) -> None:
        """Kill a rank by SIGKILL and wait until it has ended. This does not count as a failure of the job."""
        n = len(self.status)
        if not -n <= rank < n:
            raise IndexError(f"there is no rank {rank} in a job of {n}")
        self._request({"kill": rank % n})
        self._until(lambda: self.status[rank] is not None)

    def _program(self) -> list[str]:
        """Return the command of the supervisor, in the network of its own that was asked for.

        Raises
        ------
        RuntimeError
            If it cannot have one, unless the caller has allowed for that; then a line says so.
        """
        program = [sys.executable, "-m", "d2l_lab.processes.supervisor"]
        if not self._config["isolated"]:
            return program
        reason = namespace.refusal(PROJECT)
        if reason is None:
            return namespace.isolated(program)
        lacking = f"no network of their own for these processes ({reason})"
        if self._must_be_isolated:
            raise RuntimeError(
                f"{lacking}: run them on Linux, as root or where users may make network namespaces; or pass"
                f' isolated="{IF_POSSIBLE}", and other machines can reach what they serve'
            )
        print(
            f"{lacking}: until this cell ends, their servers listen on all networks and do what they are sent;"
            " a firewall that refuses incoming connections, or no network at all, keeps others out"
        )
        return program

    def _request(self, request: dict[str, Any]) -> None:
        with suppress(OSError):  # the supervisor is gone, which `_follow` reports
            self._supervisor.stdin.write(json.dumps(request) + "\n")
            self._supervisor.stdin.flush()

    def _until(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._over or condition())
        if self._failure:
            raise RuntimeError(self._failure)

    def _follow(self) -> None:
        """Print and note the supervisor's events, in a thread; if it dies, end the processes that it leaves behind."""
        with self._supervisor.stdout as events:
            for event in events:
                if event.endswith("\n"):  # else the supervisor was killed while it wrote
                    self._note(json.loads(event))
        if not self._over:
            left = end_all(lambda: processes_of_launch(self._folder))
            reason = "the process that watches the ranks has died"
            if left:
                reason += f"; {len(left)} of them are left"
            self._note({"reason": reason, "ended": []})

    def _note(self, event: dict[str, Any]) -> None:
        if "lines" in event:
            self._outputs[event["rank"]].show(event["stream"], event["lines"])
        with self._changed:
            if "lines" in event:
                self._outputs[event["rank"]].keep(event["lines"])
            elif "status" in event:
                self.status[event["rank"]] = event["status"]
            else:
                self.status[: len(event["ended"])] = event["ended"]
                self._failure, self._over = event["reason"], True
                for output in self._outputs:
                    output.close()
            self._changed.notify_all()
