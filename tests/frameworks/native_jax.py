"""What the tests need of JAX itself, and of Flax and Optax."""

from contextlib import nullcontext as asynchronous  # noqa: F401  (JAX queues its operations anyway)

import jax
import numpy as np
import optax
from devices import FakeGPU
from flax import nnx

DEVICES_AT_ANY_TIME = False
ISSUES_AHEAD = True
CHANNELS_FIRST = False
LABELS = "int32"

array, numpy = jax.numpy.asarray, np.asarray


def put(device, x):
    return jax.device_put(x, device)


def place(x):
    return str(x.device)


def pretend_gpus(n, monkeypatch):
    cpus, fakes = jax.local_devices(backend="cpu"), [FakeGPU(i) for i in range(n)]
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: cpus if backend == "cpu" else fakes or cpus)


def sgd_step(d2l, x, weights):
    params = {"w": jax.numpy.array(weights)}
    grads = jax.grad(lambda params: (x @ params["w"]).sum())(params)
    return d2l.sgd(params, 0.5, 2, grads)["w"]


def network(device, dropout=0.5):
    rngs = nnx.Rngs(0)
    with jax.default_device(device):
        net = nnx.Sequential(nnx.Dropout(dropout, rngs=rngs), nnx.Linear(2, 2, use_bias=False, rngs=rngs))
        net.layers[1].kernel[...] = jax.numpy.eye(2)
    return net


def optimizer(net):
    return nnx.Optimizer(net, optax.sgd(0.05), wrt=nnx.Param)


def parameters(net):
    return jax.tree.leaves(nnx.state(net, nnx.Param))
