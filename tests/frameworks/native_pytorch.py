"""What the tests need of PyTorch itself."""

from contextlib import nullcontext as asynchronous  # noqa: F401  (PyTorch computes on a CPU before it returns)

import numpy as np
import torch
from torch import nn

DEVICES_AT_ANY_TIME = True
ISSUES_AHEAD = False
CHANNELS_FIRST = True
LABELS = "int64"


def array(x):
    return torch.from_numpy(np.array(x))


def numpy(x):
    return x.detach().numpy()


def put(device, x):
    return array(x).to(device)


def place(x):
    return str(x.device)


def pretend_gpus(n, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: n)


def sgd_step(d2l, x, weights):
    w = torch.tensor(weights, requires_grad=True)
    (torch.tensor(x) @ w).sum().backward()
    (new,) = d2l.sgd((param for param in [w]), 0.5, 2)
    assert new is w
    assert not w.grad.any()
    return new


def network(device, dropout=0.5):
    net = nn.Sequential(nn.Dropout(dropout), nn.Linear(2, 2, bias=False)).to(device)
    net[1].weight.data = torch.eye(2)
    return net


def optimizer(net):
    return torch.optim.SGD(net.parameters(), lr=0.05)


def parameters(net):
    return list(net.parameters())
