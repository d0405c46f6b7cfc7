"""ResNet-18 for PyTorch, as the section on concise multi-GPU training builds it; `d2l.resnet18` calls it."""

from torch import nn
from torch.nn import functional as F


def convolution(i, o, side=3, stride=1):
    """Return a convolution from i to o channels and its BatchNorm."""
    return nn.Sequential(
        nn.Conv2d(i, o, side, stride, side // 2, bias=False),
        nn.BatchNorm2d(o, momentum=0.3),  # small data sets have few steps an epoch
    )


class Residual(nn.Module):
    """Two convolutions from i to o channels, added to their input."""

    def __init__(self, i, o, stride=1):
        super().__init__()
        self.body = nn.Sequential(convolution(i, o, 3, stride), nn.ReLU(), convolution(o, o))
        same = i == o and stride == 1
        self.skip = nn.Identity() if same else convolution(i, o, 1, stride)

    def forward(self, X):
        return F.relu(self.body(X) + self.skip(X))


def resnet18(num_classes, in_channels=1, width=64):
    """Return a ResNet-18 for small images of shape (in_channels, h, w)."""
    layers = [convolution(in_channels, width), nn.ReLU()]
    sizes = [width, width, 2 * width, 4 * width, 8 * width]
    for stage, (i, o) in enumerate(zip(sizes, sizes[1:], strict=False)):
        layers += [Residual(i, o, 2 if stage else 1), Residual(o, o)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, num_classes))
