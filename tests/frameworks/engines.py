"""Each framework's own way to run several processes: a small program, how it starts, what a death does to it."""

import sys
from dataclasses import dataclass

# Each program adds the ranks' numbers up, says that it is up and, if told to stay, goes on until something ends it.
PYTORCH = """
import os
import torch
from torch import distributed
from d2l_lab.processes.job import return_value
distributed.init_process_group("gloo")
x = torch.tensor([distributed.get_rank() + 1.0])
distributed.all_reduce(x)
return_value(x.item())
print(f"up {os.getpid()}\\n", end="")  # in one piece: torchrun's ranks share a pipe
while "STAY" in os.environ:
    distributed.all_reduce(x)
distributed.destroy_process_group()
"""
TENSORFLOW = """
import os
import tensorflow as tf
from d2l_lab.processes.job import return_value
cluster = {"worker": ["127.0.0.1:" + os.environ["MASTER_PORT"]]}
if os.environ["RANK"] == "0":
    server = tf.distribute.Server(cluster, job_name="worker", task_index=0)
    print("up", os.getpid())
    server.join()
tf.config.experimental_connect_to_host(cluster["worker"][0])
with tf.device("/job:worker/task:0"):
    x = tf.Variable(1.0)
    x.assign_add(2.0)
    return_value(float(x))
    print("up", os.getpid())
    while "STAY" in os.environ:
        x.assign_add(1.0).numpy()
"""
JAX = """
import os
import jax
import numpy as np
from jax.experimental import multihost_utils
from d2l_lab.processes.job import return_value
jax.config.update("jax_cpu_collectives_implementation", "gloo")
address = os.environ["MASTER_ADDR"] + ":" + os.environ["MASTER_PORT"]
rank, n = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
jax.distributed.initialize(address, n, rank, coordinator_bind_address=address)
return_value(float(multihost_utils.process_allgather(np.float32(rank + 1)).sum()))
print("up", os.getpid())
try:
    while "STAY" in os.environ:
        multihost_utils.process_allgather(np.float32(1))
except (ValueError, jax.errors.JaxRuntimeError) as error:  # at the call, or when its result is waited for
    print(error)
    os._exit(1)  # an ordinary exit would wait for the peer that is gone, for 100 s
"""
MXNET = """
import os
os.environ["DMLC_PS_ROOT_PORT"] = os.environ["MASTER_PORT"]
import mxnet as mx
from d2l_lab.processes.job import return_value
store = mx.kv.create("dist_sync")
store.init(0, mx.nd.zeros(1))
x = mx.nd.zeros(1)
store.push(0, mx.nd.ones(1) * (store.rank + 1))
store.pull(0, out=x)
return_value(float(x.asscalar()))
print("up", os.getpid())
while "STAY" in os.environ:
    store.push(0, x)
    store.pull(0, out=x)
    x.wait_to_read()
"""
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "engine.py"]
ADDRESS = {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_NODE_HOST": "127.0.0.1", "DMLC_NUM_WORKER": 2, "DMLC_NUM_SERVER": 1}
PS_LITE = [ADDRESS | {"DMLC_ROLE": role} for role in ("scheduler", "server", "worker", "worker")]


@dataclass
class Engine:
    """A program, the arguments of `launch` for it, and what comes of it."""

    program: str
    arguments: dict
    waited_for: tuple  # the ranks that end by themselves
    values: list  # what it returns
    victim: int  # the process that is killed
    survivor: int  # the process that notices, or does not
    notices: bool


OPEN = {"isolated": True}  # torchrun's store and TensorFlow's server listen on every address
ENGINES = {
    "pytorch": Engine(PYTORCH, {"command": TORCHRUN} | OPEN, (0,), [3, 3], 0, 0, True),
    "tensorflow": Engine(TENSORFLOW, {"command": "engine.py", "n": 2} | OPEN, (1,), [None, 3], 0, 1, True),
    "jax": Engine(JAX, {"command": "engine.py", "n": 2}, (0, 1), [3, 3], 1, 0, True),
    "mxnet": Engine(
        MXNET, {"command": "engine.py", "environment": PS_LITE}, (0, 1, 2, 3), [None, None, 3, 3], 2, 3, False
    ),
}
