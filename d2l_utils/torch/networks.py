"""Data, networks and the training step of the chapter's loop, for PyTorch, imported on demand."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from d2l_lab.instruments import loops
from d2l_lab.instruments.data import digits


def build_lenet() -> Any:
    """Return LeNet, the network of the chapter's training loop, with the same first weights in every call.

    It is a `torch.nn.Module` and takes X of shape (n, 1, 28, 28).
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
    """Return a LeNet whose layers suit the framework: the same first weights, the same logits but for rounding.

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

    `net` is a `torch.nn.Module`, and `optimizer` one of `torch.optim`.
    """
    optimizer.zero_grad()
    loss = F.cross_entropy(net(X), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def load_images(images: Any, batch_size: int) -> Any:
    """Return an iterator over whole minibatches of `DigitImages`, in a new order each time."""
    return DataLoader(images, batch_size, shuffle=True, drop_last=True)


def load_data_digits(batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
    """Return iterators over the training and the test minibatches of scikit-learn's handwritten digits.

    X has shape (n, 1, side, side), where side is 8 or `resize`, and y is int64.
    """
    return iterators(digits(resize), batch_size)


def iterators(arrays: Sequence[Any], batch_size: int) -> tuple[Any, Any]:
    """Return iterators over minibatches of X_train, y_train, X_test and y_test, as `load_data_digits` does."""
    X_train, y_train, X_test, y_test = map(torch.from_numpy, arrays)
    order = torch.Generator().manual_seed(0)
    train = DataLoader(TensorDataset(X_train.unsqueeze(1), y_train), batch_size, shuffle=True, generator=order)
    return train, DataLoader(TensorDataset(X_test.unsqueeze(1), y_test), batch_size)


class Loop(loops.Loop):
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

    def background(self, images: Any) -> Any:
        settings = {"num_workers": 1, "persistent_workers": True, "pin_memory": torch.cuda.is_available()}
        return DataLoader(images, loops.BATCH, shuffle=True, drop_last=True, **settings)

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
