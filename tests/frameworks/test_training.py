"""Data, accuracy, a step of gradient descent, the split of a minibatch and the networks, against NumPy."""

import re
import subprocess
import sys
from inspect import getsource
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
X = np.arange(20, dtype="float32").reshape(10, 2)
LABELS = np.array([0, 1, 1, 0, 1, 1, 1, 0, 0, 1], "int32")


@pytest.mark.parametrize("logits", [[[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]], [1, 0, 1]])
def test_accuracy_counts_logits_or_classes_that_fit_their_labels(logits, d2l, array):
    y = array(np.array([1, 1, 1], "int32"))
    assert d2l.accuracy(array(np.array(logits, "float32")), y) == 2.0


@pytest.mark.parametrize(("k", "sizes"), [(1, [9]), (2, [5, 4])])
def test_a_split_loses_nothing_and_its_parts_differ_by_at_most_one(k, sizes, d2l, array, numpy, two):
    X_shards, y_shards = d2l.split_batch(array(X[:9]), array(LABELS[:9]), two[:k])
    assert [len(part) for part in y_shards] == [len(part) for part in X_shards] == sizes
    np.testing.assert_array_equal(np.concatenate([numpy(part) for part in X_shards]), X[:9])
    np.testing.assert_array_equal(np.concatenate([numpy(part) for part in y_shards]), LABELS[:9])
    with pytest.raises(ValueError, match="10 examples have 3 labels"):
        d2l.split_batch(array(X), array(LABELS[:3]), two)


def test_the_parts_of_a_split_lie_on_their_devices_in_order(d2l, native):
    code = (
        f"from {d2l.__name__.replace('.', ' import ')} as d2l\n"
        "devices = d2l.devices(2)\n"
        "X, y = next(iter(d2l.load_data_digits(8)[1]))\n"
        f"{getsource(native.place)}"
        "print(*[place(x) for part in d2l.split_batch(X, y, devices) for x in part], sep=', ')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    places = done.stdout.splitlines()[-1].split(", ")
    assert places[:2] == places[2:]
    numbers = [re.sub(r"\D", "", place) for place in places[:2]]
    assert numbers == ["0", "1"] or places[0] == places[1] == "cpu"  # PyTorch has one CPU


def test_a_step_of_sgd_goes_against_the_mean_gradient(d2l, native):
    weights = np.array([1, -1], "float32")
    new = native.sgd_step(d2l, X[1:3], weights)
    np.testing.assert_allclose(native.numpy(new), weights - 0.5 * X[1:3].mean(0))


def test_accuracy_is_that_of_the_network_in_evaluation_or_of_a_function(d2l, native, batches, two):
    net = native.network(two[0])
    assert d2l.evaluate_accuracy_gpu(net, batches) == pytest.approx(0.9)
    assert d2l.evaluate_accuracy_gpu(net, batches, two[0]) == pytest.approx(0.9)
    assert d2l.evaluate_accuracy_gpu(lambda X: X, batches, two[0]) == pytest.approx(0.9)


def test_accuracy_over_replicas_is_that_of_one(d2l, native, batches, two):
    replicas = [native.network(device) for device in two]
    assert d2l.evaluate_accuracy_gpus(replicas, batches) == pytest.approx(0.9)
    assert d2l.evaluate_accuracy_gpus(replicas, batches, d2l.split_batch) == pytest.approx(0.9)


def test_digits_come_in_minibatches_of_the_frameworks_shape_and_all_of_them(d2l, native, numpy):
    train, test = d2l.load_data_digits(500)
    image = (1, 8, 8) if native.CHANNELS_FIRST else (8, 8, 1)
    shapes = [(tuple(X.shape), tuple(y.shape)) for X, y in train]
    assert shapes == [((n, *image), (n,)) for n in (500, 500, 437)]
    assert (len(train), len(test)) == (3, 1)
    (((X, y)),) = test
    assert (numpy(X).dtype, numpy(y).dtype) == ("float32", native.LABELS)
    assert (numpy(X).min(), numpy(X).max()) == (0, 1)
    assert set(numpy(y).tolist()) == set(range(10))
    assert sorted(next(iter(d2l.load_data_digits(4, resize=28)[1]))[0].shape) == [1, 4, 28, 28]


def test_every_epoch_has_its_own_order_and_every_call_the_same_ones(d2l, numpy):
    def epochs():
        train, _ = d2l.load_data_digits(100)
        return [np.concatenate([numpy(y) for _, y in train]).tolist() for _ in range(2)]

    first, second = epochs()
    assert first != second
    assert sorted(first) == sorted(second)
    assert epochs() == [first, second]


def test_test_examples_come_in_their_own_order_each_time(d2l, numpy):
    _, test = d2l.load_data_digits(360)
    first, second = (numpy(next(iter(test))[1]).tolist() for _ in range(2))
    assert first == second
    assert first[:8] == [7, 9, 4, 7, 0, 2, 6, 1]  # whatever the version of NumPy and of scikit-learn


def images_of_ones(native, n, side, channels):
    shape = (n, channels, side, side) if native.CHANNELS_FIRST else (n, side, side, channels)
    return native.array(np.ones(shape, "float32"))


def test_a_resnet_gives_a_logit_for_each_class(d2l, native):
    net = native.initialised(d2l.resnet18(10, in_channels=3, width=4))
    logits = native.numpy(net(images_of_ones(native, 2, 12, 3)))
    assert logits.shape == (2, 10)
    assert np.isfinite(logits).all()


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [((3,), (2, 3, 6, 6)), ((3, True), (2, 3, 6, 6)), ((3, True, 2), (2, 3, 3, 3))],
)
def test_a_residual_block_is_built_as_in_d2l(arguments, shape, d2l, native):
    block = native.initialised(d2l.Residual(*arguments))
    Y = native.numpy(block(images_of_ones(native, 2, 6, 3)))
    assert Y.shape == (shape if native.CHANNELS_FIRST else (shape[0], *shape[2:], shape[1]))
    assert Y.min() >= 0


@pytest.fixture
def images(d2l, native):
    """The images of the chapter's loop in the framework's shape."""
    return d2l.DigitImages((1, 28, 28) if native.CHANNELS_FIRST else (28, 28, 1))


def test_images_come_in_whole_minibatches_and_each_at_most_once_an_epoch(d2l, images, numpy):
    minibatches = [(numpy(X), numpy(y)) for X, y in d2l.load_images(images, 256)]
    assert [(X.shape, y.shape) for X, y in minibatches] == [((256, *images.shape), (256,))] * 5
    seen = np.concatenate([X for X, _ in minibatches])
    assert len(np.unique(seen.reshape(len(seen), -1), axis=0)) == 1280
    known = {images[i][0].tobytes(): images[i][1] for i in range(len(images))}
    assert [known[X.tobytes()] for X in seen] == np.concatenate([y for _, y in minibatches]).tolist()


def test_lenet_has_the_same_first_weights_in_every_call_and_learns(d2l, native, images):
    # The same 64 images in every run: some minibatches let a step of this length raise the loss.
    X, y = (native.array(np.stack(part)) for part in zip(*(images[i] for i in range(64)), strict=True))
    losses = []
    for _ in range(2):
        net = d2l.build_lenet()
        optimizer = native.optimizer(net)
        losses.append([float(d2l.train_step(net, optimizer, X, y)) for _ in range(15)])
    np.testing.assert_allclose(losses[0][:3], losses[1][:3], rtol=1e-3)
    assert 2 < losses[0][0] < 3
    assert losses[0][-1] < losses[0][0]
