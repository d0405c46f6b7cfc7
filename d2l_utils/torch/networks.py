"""Networks and the training step that sections build, for PyTorch, imported on demand by `d2l_utils.torch`."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

from d2l_lab.instruments import levers
from d2l_lab.instruments.data import DigitImages


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


class Loop(levers.Loop):
    """The chapter's loop with some levers, for PyTorch."""

    SHAPE = (1, 28, 28)

    def make(self, tuned: bool, compiled: bool, bfloat16: bool) -> tuple[Any, Any, Any, Any]:
        self.net = self.network(tuned, bfloat16).to(self.device)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.05, momentum=0.9)
        for param in self.net.parameters():
            self.optimizer.state[param]["momentum_buffer"] = torch.zeros_like(param)
        step = _compiled_step(self.optimizer) if compiled else train_step
        return self.net, self.optimizer, step, self.save()

    def _state(self) -> list[Any]:
        """Return the parameters and their momenta."""
        params = list(self.net.parameters())
        return params + [self.optimizer.state[param]["momentum_buffer"] for param in params]

    @torch.no_grad()
    def load(self, state: Any) -> None:
        for place, tensor in zip(self._state(), state, strict=True):
            place.copy_(tensor)

    def save(self) -> Any:
        return [tensor.detach().clone() for tensor in self._state()]

    def background(self, images: DigitImages) -> Any:
        settings = {"num_workers": 1, "persistent_workers": True, "pin_memory": torch.cuda.is_available()}
        return DataLoader(images, levers.BATCH, shuffle=True, drop_last=True, **settings)

    def place(self, X: Any, y: Any) -> tuple[Any, Any]:
        return X.to(self.device, non_blocking=True), y.to(self.device, non_blocking=True)

    def begin(self, seed: int) -> None:
        super().begin(seed)
        torch.manual_seed(seed)


def _compiled_step(optimizer: Any) -> Any:
    """Return a `train_step` with the network and its loss compiled, and, separately, this optimizer's step.

    Compiled as a whole, a step breaks into pieces at `backward`.
    """
    mode = "reduce-overhead" if torch.cuda.is_available() else "default"
    loss_of = torch.compile(lambda net, X, y: F.cross_entropy(net(X), y), mode=mode)
    update = torch.compile(optimizer.step)

    def step(net: Any, optimizer: Any, X: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = loss_of(net, X, y)
        loss.backward()
        update()
        return loss.detach().clone()  # its memory is a CUDA graph's, whose next run writes over it

    return step
