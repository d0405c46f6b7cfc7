"""What the tests need of PyTorch itself."""

from contextlib import nullcontext as asynchronous  # noqa: F401  (PyTorch computes on a CPU before it returns)

import numpy as np
import torch
from torch import nn

DEVICES_AT_ANY_TIME = True
CHANNELS_FIRST = True
LABELS = "int64"  # of the data sets


def array(x):
    return torch.from_numpy(np.array(x))


def numpy(x):
    return x.detach().numpy()


def on(device, x):
    """Put a NumPy array on a device and return it with the name of its device."""
    y = array(x).to(device)
    return y, str(y.device)


def place(x):
    return str(x.device)


def pretend_gpus(n, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n)


def sgd_step(d2l, x, weights):
    """Return the weights w after a step of 0.5 that minimises the sum over two examples of w · x."""
    w = torch.tensor(weights, requires_grad=True)
    (torch.tensor(x) @ w).sum().backward()
    (new,) = d2l.sgd((param for param in [w]), 0.5, 2)
    assert new is w
    assert not w.grad.any()
    return new


def network(device, dropout=0.5):
    """Return a network with dropout whose logits are the two columns of its input, exactly where none is lost."""
    net = nn.Sequential(nn.Dropout(dropout), nn.Linear(2, 2, bias=False)).to(device)
    net[1].weight.data = torch.eye(2)
    return net


def initialised(net):
    return net


def optimizer(net):
    """Return plain gradient descent with a learning rate of 0.05."""
    return torch.optim.SGD(net.parameters(), lr=0.05)
