"""The step of steps.py with gluon's layers and Trainer."""

from mxnet import autograd, gluon, npx
from steps import race, section, turned


def main():
    npx.set_np()
    names = section("mxnet")
    X, y, devices = names["X"], names["y"], names["devices"][:2]
    loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def build(lr):
        net = names["d2l"].build_lenet()
        net.collect_params().reset_ctx(devices)
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
