"""The chapter's training loop for TensorFlow, as its first section builds it; `d2l_utils.tensorflow` lends it."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def build_lenet():
    """Return LeNet for X of shape (n, 28, 28, 1), a Keras model that returns logits of shape (n, 10)."""
    keras.utils.set_random_seed(0)
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(20, 3, activation="relu"),
            layers.AveragePooling2D(2),
            layers.Conv2D(50, 5, activation="relu"),
            layers.AveragePooling2D(2),
            layers.Flatten(),
            layers.Dense(128, "relu"),
            layers.Dense(10),
        ]
    )


def train_step(net, optimizer, X, y):
    """Update the network by one minibatch and return its mean loss, a tensor."""
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, net(X))
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables, strict=True))
    return loss


def load_images(images, batch_size):
    """Return a data set of whole minibatches of the images, in a new order each time."""

    def draw():
        order = np.random.permutation(len(images))
        for start in range(0, len(order) - batch_size + 1, batch_size):
            chosen = [images[i] for i in order[start : start + batch_size]]
            yield tuple(np.stack(part) for part in zip(*chosen, strict=True))

    shape = (batch_size, *images.shape)
    return tf.data.Dataset.from_generator(
        draw,
        output_signature=(
            tf.TensorSpec(shape),
            tf.TensorSpec(batch_size, tf.int32),
        ),
    )
