"""What each framework's module adds to D2L's names: the contract, stated once, as in d2l_lab/protocol.py."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol


class D2LNames(Protocol):
    """A framework's module of D2L's names; mypy compares each of the four with it."""

    def accuracy(self, y_hat: Any, y: Any) -> float:
        """Return how many predictions are right: logits of shape (n, classes) or classes (n,), for labels y (n,)."""

    def sgd(self, params: Any, lr: float, batch_size: int, grads: Any = None) -> Any:
        """Take a step of minibatch stochastic gradient descent and return the parameters.

        `grads` are the gradients of the sum of `batch_size` losses.

        Raises
        ------
        ValueError
            Without `grads`, if the framework stores none with the parameters.
        """

    def split_batch(self, X: Any, y: Any, devices: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Split X and y over the devices, in parts that differ by at most one example.

        Raises
        ------
        ValueError
            If X and y differ in length.
        """

    def evaluate_accuracy_gpu(self, net: Any, data_iter: Iterable[Any], device: Any = None) -> float:
        """Return the accuracy of a network on a data set, between 0 and 1.

        Parameters
        ----------
        net
            A network, which computes as in evaluation, or a function of X.
        data_iter
            Minibatches (X, y).
        device
            Where the parameters lie; looked up if None.
        """

    def evaluate_accuracy_gpus(self, net: Any, data_iter: Iterable[Any], split_f: Callable[..., Any] = ...) -> float:
        """Return the accuracy of a network on a data set, each minibatch split over its replicas.

        Parameters
        ----------
        net
            A list of replicas, one on each device. All compute before the first result is waited for.
        data_iter
            Minibatches (X, y).
        split_f
            A function like `split_batch`.
        """

    def load_data_fashion_mnist(self, batch_size: int, resize: int | None = None) -> tuple[Any, Any]:
        """Return iterators over the training and the test minibatches of Fashion-MNIST.

        There are 60,000 and 10,000 images, downloaded once. X is float32 in [0, 1], and y has shape (n,). Each epoch of
        training has a new order, the same in every call.

        Raises
        ------
        RuntimeError
            If the images cannot be downloaded.
        """

    def Residual(self, num_channels: int, use_1x1conv: bool = False, strides: int = 1) -> Any:
        """The residual block of ResNet: two 3 × 3 convolutions, added to their input.

        Parameters
        ----------
        num_channels
            Channels of the output.
        use_1x1conv
            Whether a 1 × 1 convolution brings the input to the shape of the output.
        strides
            Strides of the first convolution, which divide height and width.
        """

    def resnet18(self, num_classes: int, in_channels: int = 1, width: int = 64) -> Any:
        """Return a ResNet-18 for small images, with `width` channels in its first stage.

        It returns logits of shape (n, num_classes).
        """
