"""ResNet-18 for MXNet, as the section on concise multi-GPU training builds it; `d2l.resnet18` calls it."""

from mxnet.gluon import nn


class Residual(nn.HybridBlock):
    """Two 3×3 convolutions with their input added; stride 2 halves h, w."""

    def __init__(self, channels, stride=1):
        super().__init__()
        self.body, self.skip = nn.HybridSequential(), None
        self.body.add(
            nn.Conv2D(channels, 3, stride, 1, use_bias=False),
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.Conv2D(channels, 3, 1, 1, use_bias=False),
            nn.BatchNorm(),
        )
        if stride > 1:
            self.skip = nn.Conv2D(channels, 1, stride)

    def hybrid_forward(self, F, X):
        skipped = self.skip(X) if self.skip else X
        return F.npx.relu(self.body(X) + skipped)


def resnet18(num_classes, in_channels=1, width=64):
    """Return a ResNet-18 for small images, shape (n, in_channels, h, w)."""
    net = nn.HybridSequential()
    net.add(nn.Conv2D(width, 3, 1, 1, in_channels=in_channels, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for stage in range(4):
        channels = width * 2**stage
        net.add(Residual(channels, 2 if stage else 1), Residual(channels))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(num_classes))
    return net
