"""What training loops count, whatever the framework. Standard library only."""


class Accumulator:
    """Sum n quantities over the minibatches of an epoch: `[i]` is the sum of quantity i."""

    def __init__(self, n):
        self.data = [0.0] * n

    def add(self, *args):
        """Add one number to each of the n sums; ValueError if there are not n."""
        self.data = [total + float(value) for total, value in zip(self.data, args, strict=True)]

    def reset(self):
        """Set all sums to zero."""
        self.data = [0.0] * len(self.data)

    def __getitem__(self, i):
        return self.data[i]
