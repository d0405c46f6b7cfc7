"""Run as a program: the process between a notebook and the ranks that `launch` starts, which it outlives.

The first line of its standard input says what to start. It ends all of that when its input does, as it does when the
notebook's kernel is killed. On Linux it adopts processes that have lost their parent, and so finds them. Elsewhere it
knows them by their environment: one that has lost its parent and has cleared its environment too is not ended.
"""

import ctypes
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Event, Thread

import psutil

from d2l_utils.jobs.processes import FOLDER, end, exposed, marked

LINES, WIDTH = 1000, 1000  # of each stream of a rank so many lines are relayed, of so many characters
TICK = 0.25  # seconds between two looks at the clock and the sockets


class Supervisor:
    """Starts the ranks, relays what they print, and ends them all when one fails or the time is over."""

    def __init__(self, commands, environments, place, folder, deadline, may_fail, loopback_only):
        self.commands, self.environments, self.place, self.folder = commands, environments, place, folder
        self.deadline, self.may_fail, self.loopback_only = deadline, set(may_fail), loopback_only
        self.ranks, self.threads = [], []
        self.last = [{} for _ in commands]
        self.status = [None] * len(commands)
        self.events, self.outgoing, self.closed = queue.SimpleQueue(), queue.SimpleQueue(), Event()
        self.kernel = os.getppid()

    def say(self, **event):
        """Tell the notebook, without waiting for it."""
        self.outgoing.put(json.dumps(event) + "\n")

    def send(self):
        with suppress(OSError):  # the notebook is gone
            while line := self.outgoing.get():
                os.write(1, line.encode())

    def listen(self, orders):
        """Take orders to kill a rank, until the notebook closes the pipe or is gone."""
        for order in orders:
            self.events.put(("kill", int(order)))
        self.closed.set()
        self.events.put(("close", None))

    def start(self):
        """Start all ranks; return why that cannot be done."""
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        text = {"encoding": "utf-8", "errors": "replace"}
        for rank, (command, environment) in enumerate(zip(self.commands, self.environments, strict=True)):
            environment = os.environ | environment | {FOLDER: self.folder, "D2L_LAUNCH_RANK": str(rank)}
            try:
                process = subprocess.Popen(command, env=environment, cwd=self.place, **pipes, **text)
            except OSError as error:
                return f"rank {rank} cannot be started: {error}"
            self.ranks.append(process)
            relays = [_thread(self.relay, rank, name) for name in ("stdout", "stderr")]
            self.threads.append([*relays, _thread(self.wait, rank)])
        return None

    def relay(self, rank, name):
        """Pass on a rank's lines; a longer one is cut into several, and of very many only the first are passed on."""
        lines = iter(lambda: getattr(self.ranks[rank], name).readline(WIDTH), "")
        for shown, line in enumerate(line.rstrip("\n") for line in lines):
            if any(map(str.isalnum, line)):
                self.last[rank] |= {name: line.strip(), "either": line.strip()}
            if shown <= LINES:
                line = line if shown < LINES else f"… more than {LINES} lines: the rest is not shown"
                self.say(rank=rank, line=line, stream=name)

    def wait(self, rank):
        self.ranks[rank].wait()
        self.events.put(("ended", rank))

    def watch(self):
        """Return why the ranks must be ended, or None once all have ended or the notebook wants no more of them."""
        over = time.monotonic() + self.deadline
        while None in self.status and os.getppid() == self.kernel:
            kind = rank = None
            with suppress(queue.Empty):
                kind, rank = self.events.get(timeout=TICK)
            if kind == "close":
                return None
            if kind == "kill":
                self.may_fail.add(rank)
                self.ranks[rank].kill()
            if reason := (self.ended(rank) if kind == "ended" else self.look(over)):
                return reason
        return None

    def ended(self, rank):
        """Note the end of a rank; return what is said of it if it failed."""
        self.join(rank)
        status = self.ranks[rank].returncode
        if status and rank not in self.may_fail:
            return f"rank {rank} {_how(status)}; {self.last_line(rank, status)}"
        self.status[rank] = status
        self.say(rank=rank, status=status)
        return None

    def last_line(self, rank, status):
        """Return what the rank printed last: what Python prints of an exception rather than what crossed it."""
        last = self.last[rank]
        line = last.get("stderr" if status > 0 else "either", last.get("either"))
        return f"its last line: {line}" if line else "it printed nothing"

    def join(self, rank):
        """Let what the rank has printed arrive; a child of it may hold its pipes for longer."""
        for thread in self.threads[rank]:
            thread.join(0.2)

    def look(self, over):
        """Return what is wrong although no rank ended: the time is over, or a socket listens beyond loopback."""
        if time.monotonic() > over:
            running = ", ".join(str(rank) for rank, status in enumerate(self.status) if status is None)
            return f"the deadline of {self.deadline:g} s has passed; still running: rank {running}"
        for pid, command, address in exposed(self.below()) if self.loopback_only else ():
            rank = "unknown"
            with suppress(psutil.Error):
                rank = psutil.Process(pid).environ().get("D2L_LAUNCH_RANK", rank)
            said = " ".join(command.split())[:200]
            return f"rank {rank} listens on {address}, which is not loopback: process {pid}, {said}"
        return None

    def below(self):
        return psutil.Process().children(recursive=True)

    def finish(self, reason):
        """End all processes, tell how each rank ended and why, and go when the notebook does."""
        left = end(lambda: {*self.below(), *marked(self.folder)})
        for rank in range(len(self.ranks)):
            self.join(rank)
        if left:
            left = "these processes cannot be killed: " + ", ".join(str(process.pid) for process in left)
        self.say(reason="; ".join(filter(None, (reason, left))), ended=[process.poll() for process in self.ranks])
        while not self.closed.wait(TICK) and os.getppid() == self.kernel:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)


def _how(status):
    return f"ended with status {status}" if status > 0 else f"was ended by {signal.Signals(-status).name}"


def _thread(function, *arguments):
    thread = Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def main():
    """Start what the first line of the standard input says, and see to its end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    with open(0, "rb", buffering=0) as orders:
        supervisor = Supervisor(**json.loads(orders.readline()))
        sender = _thread(supervisor.send)
        _thread(supervisor.listen, orders)
        supervisor.finish(supervisor.start() or supervisor.watch())
        supervisor.outgoing.put("")
        sender.join(1)
        os._exit(0)  # an ordinary exit would wait for threads that still read


if __name__ == "__main__":
    main()
