"""Run as a program: the process between a notebook and the ranks that `launch` starts, which it outlives.

The first line of its standard input is the job, as JSON; each further line is a request, {"kill": rank}. It ends all
processes of the job when its input ends, as it does when the notebook's kernel is killed. On Linux it adopts processes
that have lost their parent, and so finds them. Elsewhere it knows them by their environment: one that has lost its
parent and has cleared its environment too is not ended.
"""

import json
import os
import queue
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from threading import Event, Semaphore, Thread
from typing import Any

import psutil

from d2l_lab.processes.control import (
    FOLDER,
    adopt_orphans,
    describe_exit,
    end_all,
    processes_of_launch,
    reachable_sockets,
)
from d2l_lab.processes.output import WIDTH
from d2l_lab.processes.relay import Relay
from d2l_lab.processes.screen import Line, plain

AHEAD = 8  # reports of lines that the notebook has not taken yet; after that, ranks that print wait for it
CATCHING_UP = 5.0  # seconds for what a rank has printed to arrive once it has ended
OFTEN, SELDOM = 0.25, 1.0  # seconds between two looks at the sockets: at first, and later, when ranks may be timed
EARLY = 2.0  # seconds of looking often


class Supervisor:
    """Starts the ranks, relays what they print, and ends them all when one fails or the time is over.

    The parameters are those of `Job`, with one command and one environment for each rank.
    """

    def __init__(
        self,
        commands: list[list[str]],
        environments: list[dict[str, str]],
        place: str,
        folder: str,
        deadline: float,
        may_fail: Iterable[int],
        isolated: bool,
    ) -> None:
        self.commands, self.environments, self.place, self.folder = commands, environments, place, folder
        self.deadline, self.may_fail, self.isolated = deadline, set(may_fail), isolated
        self.ranks: list[subprocess.Popen[bytes]] = []
        self.relays: list[list[Relay]] = []
        self.last_lines: list[dict[str, str]] = [{} for _ in commands]  # by stream, and of either
        self.status: list[int | None] = [None] * len(commands)
        self.events: queue.SimpleQueue[tuple[str, int]] = queue.SimpleQueue()
        self.outgoing: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.room = Semaphore(AHEAD)
        self.closed = Event()
        self.kernel = os.getppid()

    def report(self, **event: Any) -> None:
        """Queue an event for the notebook."""
        self.outgoing.put(event)

    def send_reports(self) -> None:
        """Send queued events to the notebook, until an empty one comes; drop them once the notebook is gone."""
        while event := self.outgoing.get():
            with suppress(OSError):
                os.write(1, json.dumps(event).encode() + b"\n")
            if "lines" in event:
                self.room.release()

    def read_requests(self, requests: Iterable[bytes]) -> None:
        """Queue the notebook's requests to kill a rank, until it closes the pipe or is gone."""
        for request in requests:
            self.events.put(("kill", json.loads(request)["kill"]))
        self.closed.set()
        self.events.put(("close", 0))

    def start(self) -> str | None:
        """Start all ranks; return why one cannot be started."""
        for rank, (command, variables) in enumerate(zip(self.commands, self.environments, strict=True)):
            try:
                process = subprocess.Popen(
                    command,
                    env=os.environ | variables | {FOLDER: self.folder, "D2L_LAUNCH_RANK": str(rank)},
                    cwd=self.place,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            except OSError as error:
                return f"rank {rank} cannot be started: {error}"
            self.ranks.append(process)
            streams = {"stdout": process.stdout, "stderr": process.stderr}
            self.relays.append([Relay(file, partial(self.pass_on, rank, name)) for name, file in streams.items()])
            _thread(self.wait, rank)
        return None

    def pass_on(self, rank: int, name: str, lines: list[Line]) -> None:
        """Report lines of a rank's stream, once there is room for them."""
        for line, stays in reversed(lines):
            if stays and any(character.isalnum() for character in plain(line)):
                last = plain(line).strip()[:WIDTH]
                self.last_lines[rank] |= {name: last, "either": last}
                break
        self.room.acquire()
        self.report(rank=rank, stream=name, lines=lines)

    def wait(self, rank: int) -> None:
        """Queue the end of a rank, once what it has printed has been reported."""
        self.ranks[rank].wait()
        for relay in self.relays[rank]:
            relay.catch_up(CATCHING_UP)
        self.events.put(("ended", rank))

    def watch(self) -> str | None:
        """Return why the ranks must be ended, or None once all have ended or the notebook has closed the pipe."""
        start = time.monotonic()
        look = start + OFTEN
        while None in self.status and os.getppid() == self.kernel:
            kind, rank = self.next_event(min(look, start + self.deadline))
            if kind == "close":
                return None
            reason = self.react(kind, rank)
            now = time.monotonic()
            if now >= start + self.deadline:
                reason = reason or self.overdue()
            if now >= look:
                reason = reason or self.reachable()
                look = now + (OFTEN if now < start + EARLY else SELDOM)
            if reason:
                return reason
        return None

    def react(self, kind: str, rank: int) -> str | None:
        """Kill a rank that the notebook names, or return why one has failed that has ended."""
        if kind == "kill":
            self.may_fail.add(rank)
            self.ranks[rank].kill()
        return self.ended(rank) if kind == "ended" else None

    def next_event(self, until: float) -> tuple[str, int]:
        """Return what happens next and to which rank; ("nothing", 0) if nothing happens in time."""
        try:
            return self.events.get(timeout=max(0, until - time.monotonic()))
        except queue.Empty:
            return "nothing", 0

    def ended(self, rank: int) -> str | None:
        """Report the end of a rank, or return why it failed."""
        status = self.ranks[rank].returncode
        if status and rank not in self.may_fail:
            return f"rank {rank} {describe_exit(status)}; {self.last_line(rank, status)}"
        self.status[rank] = status
        self.report(rank=rank, status=status)
        return None

    def last_line(self, rank: int, status: int) -> str:
        """Return what the rank printed last: the message of an exception rather than a line of the other stream."""
        last = self.last_lines[rank]
        line = last.get("either")
        if status > 0:
            line = last.get("stderr", line)
        return f"its last line: {line}" if line else "it printed nothing"

    def overdue(self) -> str:
        """Return which ranks still run at the deadline."""
        running = ", ".join(str(rank) for rank, status in enumerate(self.status) if status is None)
        return f"the deadline of {self.deadline:g} s has passed; still running: rank {running}"

    def reachable(self) -> str | None:
        """Return which rank other machines can reach; None if there is none, or if an isolated job was asked for."""
        if self.isolated:
            return None
        for pid, command, address in reachable_sockets(psutil.Process().children(recursive=True)):
            rank = "unknown"
            with suppress(psutil.Error):
                rank = psutil.Process(pid).environ().get("D2L_LAUNCH_RANK", rank)
            line = " ".join(command.split())[:200]
            return f"rank {rank} listens on {address}, which is not loopback: process {pid}, {line}"
        return None

    def finish(self, reason: str | None) -> None:
        """End all processes, report how each rank ended and why, and return when the notebook is gone or done."""
        left = end_all(lambda: {*psutil.Process().children(recursive=True), *processes_of_launch(self.folder)})
        for relay in sum(self.relays, []):
            relay.join(1)
        reasons = [reason] if reason else []
        if left:
            reasons.append("these processes cannot be killed: " + ", ".join(str(process.pid) for process in left))
        self.report(reason="; ".join(reasons), ended=[process.poll() for process in self.ranks])
        while not self.closed.wait(OFTEN) and os.getppid() == self.kernel:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)


def _thread(function: Callable[..., None], *arguments: Any) -> Thread:
    thread = Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def main() -> None:
    """Start the job that the first line of the standard input describes, and see to its end."""
    adopt_orphans()
    with open(0, "rb", buffering=0) as requests:
        supervisor = Supervisor(**json.loads(requests.readline()))
        sender = _thread(supervisor.send_reports)
        _thread(supervisor.read_requests, requests)
        supervisor.finish(supervisor.start() or supervisor.watch())
        supervisor.report()
        sender.join(1)
        os._exit(0)  # an ordinary exit would wait for threads that still read


if __name__ == "__main__":
    main()
