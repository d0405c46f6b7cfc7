"""The chapter's training loop for PyTorch, as its first section builds it; readers get it from `d2l_utils.torch`."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader


def build_lenet():
    """Return LeNet for X of shape (n, 1, 28, 28), a module that returns logits of shape (n, 10)."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 20, 3),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(20, 50, 5),
        nn.ReLU(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(800, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def train_step(net, optimizer, X, y):
    """Update the network by one minibatch and return its mean loss, a tensor."""
    optimizer.zero_grad()
    loss = F.cross_entropy(net(X), y.long())
    loss.backward()
    optimizer.step()
    return loss.detach()


def load_images(images, batch_size):
    """Return an iterator over whole minibatches of the images, in a new order each time."""
    return DataLoader(images, batch_size, shuffle=True, drop_last=True)
