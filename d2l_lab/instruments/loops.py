"""The chapter's training loop with some levers, and where the time of its steps goes.

Each framework's `networks.py` says how its loop makes, loads and saves the network.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from d2l_lab.instruments.data import DigitImages, InMemory
from d2l_lab.instruments.framework import framework
from d2l_lab.instruments.memory import keep_freed_memory, page_faults
from d2l_lab.instruments.timing import Timer

BATCH = 64  # images of a minibatch
WHOLE = 22  # minibatches of an epoch of all images
SEEN = 6  # steps after which the losses of two loops are compared
DRAWS = 3  # epochs, at least, whose minibatches are drawn without the steps that they are for


class Lever(StrEnum):
    """A change to the chapter's training loop, by its name; in the order of the running total.

    Memory kept comes last: once glibc's thresholds are set, it never adapts them again as it does for the other loops.
    """

    TUNED_LAYERS = "tuned layers"
    COMPILED_STEP = "compiled step"
    DEFERRED_LOSS_READ = "deferred loss read"
    BACKGROUND_LOADING = "background loading"
    IMAGES_IN_MEMORY = "images in memory"
    BFLOAT16 = "bfloat16"
    MEMORY_KEPT = "memory kept"


class Pieces(NamedTuple):
    """The seconds of a step in the mean of some epochs, piece by piece, and the new pages that it touches.

    The pieces are: to draw a minibatch and place it on the device, the loader's start included; the call of the step;
    to wait for the loss, or once for the sum of the losses; the rest, Python's work between them. `first` is what the
    first minibatch of an epoch adds to `load`. Others are there for the levers that need them. `alone` is a step on a
    minibatch that is already there; `kept` the time to draw one of images in memory; `beside` a step on a minibatch
    that is already there, in epochs whose minibatches but the first are drawn beside the steps. `spared` are the new
    pages that a step does not touch once memory is kept.
    """

    load: float
    compute: float
    read: float
    other: float
    faults: float
    first: float = 0.0
    alone: float = 0.0
    kept: float = 0.0
    beside: float = 0.0
    spared: float = 0.0

    @property
    def step(self) -> float:
        """The seconds of a step."""
        return self.load + self.compute + self.read + self.other


class Loop:
    """The chapter's training loop with some of the levers.

    Loops with the same layers and step share one network, so that it is compiled once, and each brings its own weights.
    All draw the same minibatches in the same order: `prepare`, `restart` and `begin` with equal arguments come first.
    """

    SHAPE: tuple[int, ...] = (28, 28, 1)  # of an image
    SHARING = {Lever.TUNED_LAYERS, Lever.COMPILED_STEP, Lever.BFLOAT16}  # loops that agree in these share a network

    def __init__(self, levers: tuple[str, ...], models: dict[Any, Any]):
        self.levers, self.d2l = levers, framework()
        self.device = self.d2l.try_gpu()
        own = frozenset(levers) & self.SHARING
        if own not in models:
            models[own] = self.make(Lever.TUNED_LAYERS in own, Lever.COMPILED_STEP in own, Lever.BFLOAT16 in own)
        self.net, self.optimizer, self.step, self.first = models[own]
        self.wait = 0.0  # seconds that each image waits before it is enlarged
        self.loss: Any = None  # of the last minibatch
        self.restart()

    def make(self, tuned: bool, compiled: bool, bfloat16: bool) -> tuple[Any, Any, Any, Any]:
        """Return a network, its optimizer, the function that trains it for a minibatch, and its state."""
        raise NotImplementedError

    def network(self, tuned: bool, bfloat16: bool) -> Any:
        """Return LeNet with the layers that it is to have."""
        net = self.d2l.tuned_lenet() if tuned else self.d2l.build_lenet()
        return self.d2l.in_bfloat16(net) if bfloat16 else net

    def load(self, state: Any) -> None:
        """Put weights and momenta into the network and its optimizer."""

    def save(self) -> Any:
        """Return copies of them."""

    def prepare(self, steps: int) -> None:
        """Take the images of so many minibatches, start a loader of them, and forget the pieces seen so far."""
        images = DigitImages(self.SHAPE, BATCH * steps, self.wait)
        self.images = InMemory(images) if Lever.IMAGES_IN_MEMORY in self.levers else images
        self.minibatches = self.loader()
        self.seen: list[Pieces] = []

    def loader(self) -> Any:
        """Return the minibatches; from memory, nothing is left that a worker could do meanwhile."""
        if Lever.BACKGROUND_LOADING in self.levers and Lever.IMAGES_IN_MEMORY not in self.levers:
            return self.background(self.images)
        return self.d2l.load_images(self.images, BATCH)

    def background(self, images: Any) -> Any:
        """Return minibatches of which the next one is loaded meanwhile."""
        raise NotImplementedError

    def draw(self) -> Any:
        """Return the minibatches of the next epoch."""
        return self.minibatches

    def place(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return a minibatch on the device."""
        return X, y

    def restart(self) -> None:
        """Go back to the first weights."""
        self.state = self.first

    def begin(self, seed: int) -> None:
        """Load the loop's own weights into the network, and fix the order of the next epoch's minibatches.

        Where that changes what becomes of freed memory, one step or two meet it first.
        """
        self.load(self.state)
        if keep_freed_memory(Lever.MEMORY_KEPT in self.levers):
            self.epoch(min(2, len(self.images) // BATCH))
            self.seen.pop()
            self.load(self.state)
        np.random.seed(seed)

    def epoch(self, steps: int, minibatches: Iterable[Any] | None = None) -> None:
        """Train for so many minibatches, of the loop's own or of these, wait, and take down the pieces of a step."""
        late = Lever.DEFERRED_LOSS_READ in self.levers
        total: Any = 0
        load = compute = read = first = 0.0
        faults = page_faults()
        start = now = perf_counter()
        drawn = iter(self.draw() if minibatches is None else minibatches)
        for _ in range(steps):
            X, y = self.place(*next(drawn))
            loaded = perf_counter()
            self.loss = self.step(self.net, self.optimizer, X, y)
            computed = perf_counter()
            total = total + (self.loss if late else float(self.loss))
            load, compute = load + loaded - now, compute + computed - loaded
            first = first or load
            now = perf_counter()
            read += now - computed
        float(total)
        self.d2l.synchronize()
        end = perf_counter()
        read += end - now
        sums = (load, compute, read, end - start - load - compute - read, page_faults() - faults, first)
        self.seen.append(Pieces(*(piece / steps for piece in sums)))

    def end(self) -> None:
        """Keep the weights, since another loop may use the network next."""
        self.state = self.save()

    def pieces(self) -> Pieces:
        """Return where the time of a step went, in the mean of the epochs since the loop was prepared."""
        return Pieces(*np.mean(self.seen, axis=0).tolist())

    def accuracy(self) -> float:
        """Return the accuracy on 320 images of the test set."""
        self.load(self.state)
        # minibatches of the same size: no new shape to compile
        return self.d2l.evaluate_accuracy_gpu(self.net, islice(self.d2l.load_data_digits(BATCH, resize=28)[1], 5))

    def close(self) -> None:
        """End the loop's threads and processes."""
        self.minibatches = None


Build = Callable[[tuple[str, ...]], Loop]  # from the levers to the loop that has them


def seconds_of(loop: Loop, steps: int, seed: int) -> float:
    """Train for an epoch of so many steps; return the seconds of a step."""
    loop.begin(seed)
    start = perf_counter()
    loop.epoch(steps)
    seconds = (perf_counter() - start) / steps
    loop.end()
    return seconds


def loss_from_the_start(loop: Loop) -> float:
    """Return the loss after some steps from the first weights, which compile what is to be compiled."""
    loop.prepare(SEEN)
    loop.begin(0)  # before the start, since it may take steps, which not every framework's loop takes back
    loop.restart()
    seconds_of(loop, SEEN, 0)
    return float(loop.loss)


def one_minibatch(loop: Loop) -> Any:
    """Return a minibatch of the loop's images, and leave no worker behind that loads others."""
    return next(iter(loop.d2l.load_images(loop.images, BATCH)))


def seconds_alone(loop: Loop, steps: int) -> float:
    """Return the seconds of a step, in an epoch of so many on one minibatch that the loop takes again and again."""
    minibatch = one_minibatch(loop)
    loop.begin(0)
    loop.epoch(steps, [minibatch] * steps)
    loop.end()
    return loop.seen.pop().step


def seconds_to_draw(loop: Loop, steps: int) -> float:
    """Return the seconds in which a loop draws one of so many minibatches and places it, without a step."""
    timer = Timer()
    for _ in range(1 + DRAWS):  # the first one warms up
        timer.start()
        for minibatch in islice(loop.draw(), steps):
            loop.place(*minibatch)
        timer.stop()
    return statistics.mean(timer.times[1:]) / steps


def pieces_beside(loop: Loop, loader: Loop, steps: int, limit: float) -> Pieces:
    """Return the pieces of a step of `loop`, with that beside a loading: in epochs of each, in turn.

    In the latter, minibatches are drawn as `loader` draws them, and each step trains on one that is there. After
    `limit` seconds no further epochs start.
    """
    minibatch = one_minibatch(loop)

    def drawn() -> Iterator[Any]:  # a generator's expression would start the loader before the clock
        for _ in loader.draw():
            yield minibatch

    seconds_of(loader, min(2, steps), 0)  # warms up
    for each in (loader, loop):
        each.seen.clear()
    start = perf_counter()
    for seed in range(max(DRAWS, WHOLE // steps)):
        if seed and perf_counter() - start > limit:
            break
        seconds_of(loop, steps, seed)
        loader.begin(seed)
        loader.epoch(steps, drawn())
        loader.end()
    return loop.pieces()._replace(beside=loader.pieces().step)


def seconds_until(loop: Loop, share: float, limit: float) -> float | None:
    """Train from the first weights, epoch by epoch, until a share of the test digits is right.

    Returns
    -------
    float or None
        The seconds of training, without those of the tests; None if they exceed `limit` before.
    """
    loop.prepare(WHOLE)
    loop.restart()
    seconds, epochs = 0.0, 0
    while seconds <= limit:
        seconds += WHOLE * seconds_of(loop, WHOLE, epochs)
        epochs += 1
        if loop.accuracy() >= share:
            return seconds
    return None
