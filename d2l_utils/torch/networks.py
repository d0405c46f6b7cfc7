"""Networks and the training step that sections build, for PyTorch, imported on demand by `d2l_utils.torch`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from d2l_utils.data import DigitImages
from d2l_utils.levers import show_lever, show_running_total
from d2l_utils.torch.training import evaluate_accuracy_gpu, load_data_digits


def build_lenet() -> Any:
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    Returns
    -------
    torch.nn.Module
        Takes X of shape (n, 1, 28, 28) and returns logits of shape (n, 10); it has 129,068 parameters.
    """
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 20, 3),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(20, 50, 5),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(800, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def tuned_lenet() -> Any:
    """Return LeNet with layers that suit this framework: the same first weights, and the same logits but for rounding.

    Its layers keep the channels of a pixel side by side in memory.
    """
    return build_lenet().to(memory_format=torch.channels_last)


def in_bfloat16(net: Any) -> Any:
    """Return a network that computes as `net` does, but in bfloat16: its own weights and its logits stay float32.

    PyTorch's autocast chooses the operations that have 16 bits; products and convolutions are among them.
    """
    return _InBfloat16(net)


class _InBfloat16(nn.Module):
    def __init__(self, net: Any):
        super().__init__()
        self.net = net

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        with torch.autocast(X.device.type, torch.bfloat16):
            logits = self.net(X)
        return logits.float()


def train_step(net: Any, optimizer: Any, X: Any, y: Any) -> Any:
    """Update a network by one minibatch and return its mean loss, which has not been read yet.

    Parameters
    ----------
    net
        A module that returns logits of shape (n, classes).
    optimizer
        An optimizer of `torch.optim` for its parameters.
    X
        A minibatch of n inputs.
    y
        Its labels, of shape (n,).
    """
    optimizer.zero_grad()
    loss = F.cross_entropy(net(X), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def load_images(images: Any, batch_size: int) -> Iterator[Any]:
    """Return an iterator over whole minibatches of `DigitImages`, in a new order each time.

    Each image is enlarged in Python while the caller waits. X is float32 of shape (batch_size, *images.shape), y int64
    of shape (batch_size,).
    """
    return DataLoader(images, batch_size, shuffle=True, drop_last=True)


class Residual(nn.Module):
    """The residual block of ResNet: two 3 × 3 convolutions, added to their input.

    Parameters
    ----------
    num_channels
        Channels of the output.
    use_1x1conv
        Whether a 1 × 1 convolution brings the input to the shape of the output.
    strides
        Strides of the first convolution, which divide height and width.
    """

    def __init__(self, num_channels: int, use_1x1conv: bool = False, strides: int = 1):
        super().__init__()
        conv = partial(nn.LazyConv2d, num_channels, bias=False)
        norm = partial(nn.LazyBatchNorm2d, momentum=0.3)  # small data sets have few steps an epoch
        self.body = nn.Sequential(
            conv(3, strides, padding=1),
            norm(),
            nn.ReLU(),
            conv(3, padding=1),
            norm(),
        )
        self.skip = conv(1, strides) if use_1x1conv else nn.Identity()

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        return F.relu(self.body(X) + self.skip(X))


def resnet18(num_classes: int, in_channels: int = 1, width: int = 64) -> Any:
    """Return a ResNet-18 for small images, with `width` channels in its first stage.

    Returns
    -------
    torch.nn.Module
        Takes X of shape (n, in_channels, h, w) and returns logits of shape (n, num_classes).
    """
    layers = [nn.LazyConv2d(width, 3, padding=1, bias=False), nn.LazyBatchNorm2d(momentum=0.3), nn.ReLU()]
    for stage in range(4):
        channels, halve = width * 2**stage, stage > 0
        layers += [Residual(channels, halve, 2 if halve else 1), Residual(channels)]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LazyLinear(num_classes))
    net.eval()(torch.zeros(1, in_channels, 8, 8))  # lazy layers take their shapes from the first input
    return net.train()


def running_total(promises: Mapping[str, float | None], steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with each lever in turn; show a table and a waterfall.

    Each lever is tried on the loop with the levers kept so far: both train a LeNet from the same first weights for
    three epochs, which take turns. A lever that gains less than 2 % is marked, and left out of the rows below it.

    Parameters
    ----------
    promises
        The levers, each with the seconds of a step that it is to save, or None: "tuned layers", "compiled step",
        "deferred loss read", "background loading", "images in memory", "bfloat16", also the order of the rows.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError
        For no or an unknown lever, a promise that is no time, or more steps than the images fill.
    """
    models: dict[Any, Any] = {}
    show_running_total(lambda levers: _Loop(levers, steps, models), promises, steps)


def try_lever(lever: str, promised: float | None = None, steps: int = 6) -> None:
    """Time the chapter's training loop as it was written and with one lever, and show promised beside obtained saving.

    Both train a LeNet from the same first weights for three epochs, which take turns.

    Parameters
    ----------
    lever
        One of those of `running_total`.
    promised
        The seconds of a step that it is to save, or None.
    steps
        The minibatches of 64 images in an epoch, 22 at most.

    Raises
    ------
    ValueError
        For an unknown lever, a promise that is no time, or more steps than the images fill.
    """
    models: dict[Any, Any] = {}
    show_lever(lambda levers: _Loop(levers, steps, models), lever, promised, steps)


class _Loop:
    """The chapter's loop with some levers; see `d2l_utils.levers.Loop`.

    Loops with the same layers and step share one network, so that it is compiled once, and each brings its own weights.
    """

    def __init__(self, levers: tuple[str, ...], steps: int, models: dict[Any, Any]):
        from d2l_utils import torch as d2l

        self.device, self.late = d2l.try_gpu(), "deferred loss read" in levers
        kind = tuple(lever in levers for lever in ("tuned layers", "compiled step", "bfloat16"))
        if kind not in models:
            net = (d2l.tuned_lenet() if kind[0] else d2l.build_lenet()).to(self.device)
            net = d2l.in_bfloat16(net) if kind[2] else net
            mode = "reduce-overhead" if self.device.type == "cuda" else "default"
            optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
            step = _compiled_step(optimizer, mode) if kind[1] else d2l.train_step
            for param in net.parameters():
                optimizer.state[param]["momentum_buffer"] = torch.zeros_like(param)
            models[kind] = net, optimizer, step, [tensor.detach().clone() for tensor in _state(net, optimizer)]
        self.net, self.optimizer, self.step, self.first = models[kind]
        self.restart()
        images = DigitImages((1, 28, 28), 64 * steps)
        if "images in memory" in levers:
            self.minibatches = load_data_digits(64, resize=28)[0]
        elif "background loading" in levers:
            settings = {"num_workers": 1, "persistent_workers": True, "pin_memory": self.device.type == "cuda"}
            self.minibatches = DataLoader(images, 64, shuffle=True, drop_last=True, **settings)
        else:
            self.minibatches = d2l.load_images(images, 64)

    def restart(self) -> None:
        self.state = [tensor.clone() for tensor in self.first]

    def begin(self, seed: int) -> None:
        torch.manual_seed(seed)
        _copy(self.state, _state(self.net, self.optimizer))

    def epoch(self, steps: int) -> None:
        total: Any = 0
        for X, y in islice(self.minibatches, steps):
            X, y = X.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)
            loss = self.step(self.net, self.optimizer, X, y)
            total = total + (loss if self.late else float(loss))
        float(total)

    def end(self) -> None:
        _copy(_state(self.net, self.optimizer), self.state)

    def accuracy(self) -> float:
        self.begin(0)
        test = islice(load_data_digits(64, resize=28)[1], 5)  # those of 64 images: no new shape to compile
        return evaluate_accuracy_gpu(self.net, test)

    def close(self) -> None:
        self.minibatches = None  # ends the worker


def _compiled_step(optimizer: Any, mode: str) -> Any:
    """Return a `train_step` with the network and its loss compiled, and, separately, this optimizer's step.

    Compiled as a whole, a step breaks into pieces at `backward`.
    """
    loss_of = torch.compile(_loss_of, mode=mode)
    update = torch.compile(optimizer.step)

    def step(net: Any, optimizer: Any, X: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(net, X, y)
        loss.backward()
        update()
        return loss.detach()

    return step


def _loss_of(net: Any, X: Any, y: Any) -> Any:
    return F.cross_entropy(net(X), y)


def _state(net: Any, optimizer: Any) -> list[Any]:
    """Return the parameters and their momenta."""
    params = list(net.parameters())
    return params + [optimizer.state[param]["momentum_buffer"] for param in params]


@torch.no_grad()
def _copy(tensors: Sequence[Any], into: Sequence[Any]) -> None:
    for tensor, place in zip(tensors, into, strict=True):
        place.copy_(tensor)
