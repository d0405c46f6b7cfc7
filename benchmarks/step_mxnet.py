"""The step of steps.py with gluon's layers and Trainer."""

from mxnet import autograd, gluon, init, npx
from steps import race, section, turned


def layers():
    """Return the section's LeNet of gluon's layers."""
    nn, net = gluon.nn, gluon.nn.HybridSequential()
    net.add(nn.Conv2D(20, 3, in_channels=1, activation="relu"), nn.AvgPool2D(2))
    net.add(nn.Conv2D(50, 5, in_channels=20, activation="relu"), nn.AvgPool2D(2))
    net.add(nn.Dense(128, in_units=800, activation="relu"), nn.Dense(10, in_units=128))
    return net


def main():
    npx.set_np()
    names = section("mxnet")
    X, y, devices = names["X"], names["y"], names["devices"][:2]
    loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def build(lr):
        net = layers()
        net.initialize(init.Zero(), ctx=devices)
        params = list(net.collect_params().values())
        for param, value in zip(params, turned(names["init_lenet"]()), strict=True):
            param.set_data(value)
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": lr}, kvstore="device")

        def step():
            shards = [gluon.utils.split_and_load(part, devices) for part in (X, y)]
            with autograd.record():
                losses = [loss(net(X), y) for X, y in zip(*shards, strict=True)]
            autograd.backward(losses)
            trainer.step(len(X))
            npx.waitall()

        return step, lambda: turned([param.data(devices[0]) for param in params])

    race(names, build, numpy=lambda param: param.asnumpy())


if __name__ == "__main__":
    main()
