"""ResNet-18 for JAX, as the section on concise multi-GPU training builds it; `d2l.resnet18` calls it."""

from functools import partial

from flax import nnx


class Residual(nnx.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inputs, channels, stride, rngs):
        conv = partial(nnx.Conv, out_features=channels, rngs=rngs)
        norm = partial(nnx.BatchNorm, channels, momentum=0.9, rngs=rngs)
        self.conv1 = conv(inputs, kernel_size=(3, 3), strides=stride)
        self.conv2 = conv(channels, kernel_size=(3, 3))
        self.norm1, self.norm2 = norm(), norm()
        self.around = nnx.identity if stride == 1 else conv(inputs, kernel_size=(1, 1), strides=stride)

    def __call__(self, X):
        Y = nnx.relu(self.norm1(self.conv1(X)))
        Y = self.norm2(self.conv2(Y))
        return nnx.relu(Y + self.around(X))


def resnet18(num_classes, in_channels=1, width=64):
    """Return ResNet-18 for small images, shape (n, h, w, channels)."""
    rngs = nnx.Rngs(0)
    layers = [nnx.Conv(in_channels, width, (3, 3), rngs=rngs), nnx.BatchNorm(width, momentum=0.9, rngs=rngs), nnx.relu]
    inputs = width
    for stage in range(4):
        for stride in (2, 1) if stage else (1, 1):
            channels = width * 2**stage
            layers.append(Residual(inputs, channels, stride, rngs))
            inputs = channels
    layers += [lambda X: X.mean((1, 2)), nnx.Linear(inputs, num_classes, rngs=rngs)]
    return nnx.Sequential(*layers)
