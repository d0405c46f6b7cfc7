"""What the tests need of MXNet itself."""

from contextlib import nullcontext as asynchronous  # noqa: F401  (MXNet queues its operations anyway)

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon

DEVICES_AT_ANY_TIME = True
ISSUES_AHEAD = True
CHANNELS_FIRST = True
LABELS = "int32"
mx.npx.set_np()


def array(x):
    return mx.np.array(x, dtype=np.asarray(x).dtype)


def numpy(x):
    return x.asnumpy()


def put(device, x):
    return mx.np.array(x, ctx=device)


def place(x):
    return str(x.ctx)


def pretend_gpus(n, monkeypatch):
    monkeypatch.setattr(mx.context, "num_gpus", lambda: n)


def sgd_step(d2l, x, weights):
    w = array(weights)
    w.attach_grad()
    with autograd.record():
        loss = mx.np.dot(array(x), w).sum()
    loss.backward()
    (new,) = d2l.sgd((param for param in [w]), 0.5, 2)
    assert new is w
    return new


def network(device, dropout=0.5):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dropout(dropout), gluon.nn.Dense(2, use_bias=False, in_units=2))
    net.initialize(mx.init.Zero(), ctx=device)
    net[1].weight.set_data(mx.np.eye(2))
    return net


def optimizer(net):
    return gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})


def initialised(net):
    net.initialize()
    return net
