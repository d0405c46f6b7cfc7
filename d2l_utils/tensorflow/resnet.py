"""ResNet-18 for TensorFlow, as the section on concise multi-GPU training builds it; `d2l.resnet18` calls it."""

import keras
from keras import layers


def conv(x, channels, strides=1):
    """A 3 × 3 convolution and BatchNorm."""
    x = layers.Conv2D(channels, 3, strides, "same", use_bias=False)(x)
    return layers.BatchNormalization(momentum=0.8)(x)


def residual(x, channels, strides=1):
    """Two convolutions beside a shortcut."""
    y = layers.ReLU()(conv(x, channels, strides))
    y = conv(y, channels)
    if strides > 1:
        x = layers.Conv2D(channels, 1, strides)(x)
    return layers.ReLU()(x + y)


def resnet18(num_classes, in_channels=1, width=64):
    """ResNet-18 for small images; its logits are not normalised."""
    images = keras.Input((None, None, in_channels))
    x = layers.ReLU()(conv(images, width))
    for stage in range(4):
        x = residual(x, width * 2**stage, strides=2 if stage else 1)
        x = residual(x, width * 2**stage)
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(images, layers.Dense(num_classes)(x))
