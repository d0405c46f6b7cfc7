"""The step of steps.py under MirroredStrategy, with a loop of one's own."""

import tensorflow as tf
from steps import race, section


def main():
    names = section("tensorflow")
    X, y, lenet, k = names["X"], names["y"], names["lenet"], 2
    kind = "GPU" if len(tf.config.list_physical_devices("GPU")) > 1 else "CPU"
    strategy = tf.distribute.MirroredStrategy([f"{kind}:{i}" for i in range(k)])

    def build(lr):
        with strategy.scope():
            params = [tf.Variable(param) for param in names["init_lenet"]()]
            optimizer = tf.keras.optimizers.SGD(lr)
            optimizer.build(params)

        def on_replica(X, y):
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, lenet(X, params))
                loss = tf.nn.compute_average_loss(losses, global_batch_size=k * len(X))
            optimizer.apply_gradients(zip(tape.gradient(loss, params), params, strict=True))

        @tf.function
        def update(X, y):
            strategy.run(on_replica, (X, y))

        def step():
            shards = list(zip(tf.split(X, k), tf.split(y, k), strict=True))
            distribute = strategy.experimental_distribute_values_from_function
            update(*distribute(lambda ctx: shards[ctx.replica_id_in_sync_group]))
            names["d2l"].synchronize([strategy.experimental_local_results(param) for param in params])

        return step, lambda: [strategy.experimental_local_results(param)[0].numpy() for param in params]

    race(names, build)


if __name__ == "__main__":
    main()
