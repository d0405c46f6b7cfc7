"""The step of steps.py as one compiled program: a minibatch sharded over a mesh, parameters replicated on it."""

import jax
import numpy as np
import optax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from steps import race, section


def main():
    names = section("jax")
    mesh = Mesh(np.array(names["devices"][:2]), "batch", axis_types=(AxisType.Auto,))
    sharded, replicated = NamedSharding(mesh, PartitionSpec("batch")), NamedSharding(mesh, PartitionSpec())
    X, y, lenet = names["X"], names["y"], names["lenet"]

    def loss(params, X, y):
        return optax.softmax_cross_entropy_with_integer_labels(lenet(X, params), y).mean()

    def build(lr):
        optimizer = optax.sgd(lr)
        params = jax.device_put(list(names["init_lenet"]()), replicated)
        state = {"params": params, "optimizer": jax.device_put(optimizer.init(params), replicated)}

        @jax.jit
        def update(state, X, y):
            gradients = jax.grad(loss)(state["params"], X, y)
            updates, new = optimizer.update(gradients, state["optimizer"])
            return {"params": optax.apply_updates(state["params"], updates), "optimizer": new}

        def step():
            nonlocal state
            state = update(state, *jax.device_put((X, y), sharded))
            jax.block_until_ready(state)

        return step, lambda: state["params"]

    race(names, build)


if __name__ == "__main__":
    main()
