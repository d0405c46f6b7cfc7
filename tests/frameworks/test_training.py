"""Data, accuracy, a step of gradient descent and the split of a minibatch, against NumPy."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
X = np.arange(20, dtype="float32").reshape(10, 2)
LABELS = np.array([0, 1, 1, 0, 1, 1, 1, 0, 0, 1], "int32")


@pytest.fixture
def two(d2l, framework, gpus):
    """Two devices of the framework; TensorFlow and JAX cannot make any once they have started, and get one twice."""
    gpus(0)
    return d2l.devices(1) * 2 if framework in ("tensorflow", "jax") else d2l.devices(2)


@pytest.mark.parametrize("logits", [[[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]], [1, 0, 1]])
def test_accuracy_counts_scores_or_classes_that_fit_their_labels(logits, d2l, array):
    y = array(np.array([1, 1, 1], "int32"))
    assert d2l.accuracy(array(np.array(logits, "float32")), y) == 2.0


@pytest.mark.parametrize("k", [1, 2])
def test_a_split_loses_nothing_and_its_parts_differ_by_one_at_most(k, d2l, array, numpy, two):
    X_shards, y_shards = d2l.split_batch(array(X[:9]), array(LABELS[:9]), two[:k])
    assert [len(part) for part in y_shards] == [len(part) for part in X_shards] == {1: [9], 2: [5, 4]}[k]
    np.testing.assert_array_equal(np.concatenate([numpy(part) for part in X_shards]), X[:9])
    np.testing.assert_array_equal(np.concatenate([numpy(part) for part in y_shards]), LABELS[:9])


def test_a_split_of_examples_and_labels_of_different_number_is_an_error(d2l, array, two):
    with pytest.raises(ValueError, match="10 examples have 3 labels"):
        d2l.split_batch(array(X), array(LABELS[:3]), two)


WHERE = {"pytorch": "x.device", "tensorflow": "x.device[-5:]", "jax": "x.device", "mxnet": "x.ctx"}


def test_the_parts_of_a_split_lie_on_their_devices_in_order(framework, d2l):
    code = (
        f"from {d2l.__name__.replace('.', ' import ')} as d2l\n"
        "devices = d2l.devices(2)\n"
        "X, y = next(iter(d2l.load_data_digits(8)[1]))\n"
        f"print(*[{WHERE[framework]} for part in d2l.split_batch(X, y, devices) for x in part], sep=', ')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    places = done.stdout.splitlines()[-1].split(", ")
    assert places[:2] == places[2:]
    numbers = [re.sub(r"\D", "", place) for place in places[:2]]
    assert numbers == ["0", "1"] or "cpu" == places[0] == places[1]  # PyTorch has one CPU


def step(d2l, framework, weights):
    """Minimise the sum over two examples of (w · x), so that the gradient is the sum of x, and return w after it."""
    x = X[1:3]
    if framework == "pytorch":
        import torch

        w = torch.tensor(weights, requires_grad=True)
        (torch.tensor(x) @ w).sum().backward()
        (new,) = d2l.sgd([w], 0.5, 2)
        assert new is w
        assert not w.grad.any()
    elif framework == "mxnet":
        from mxnet import autograd
        from mxnet import np as mnp

        w = mnp.array(weights)
        w.attach_grad()
        with autograd.record():
            loss = mnp.dot(mnp.array(x), w).sum()
        loss.backward()
        (new,) = d2l.sgd([w], 0.5, 2)
        assert new is w
    elif framework == "tensorflow":
        import tensorflow as tf

        w = tf.Variable(weights)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.linalg.matvec(tf.constant(x), w))
        (new,) = d2l.sgd([w], 0.5, 2, tape.gradient(loss, [w]))
        assert new is w
    else:
        import jax

        grads = jax.grad(lambda params: (x @ params["w"]).sum())({"w": jax.numpy.array(weights)})
        new = d2l.sgd({"w": jax.numpy.array(weights)}, 0.5, 2, grads)["w"]
    return new


def test_a_step_of_sgd_goes_against_the_mean_gradient(d2l, framework, numpy):
    weights = np.array([1, -1], "float32")
    new = step(d2l, framework, weights)
    new = new.detach() if framework == "pytorch" else new
    np.testing.assert_allclose(numpy(new), weights - 0.5 * X[1:3].mean(0))


@pytest.mark.only("tensorflow", "jax")
def test_sgd_needs_gradients_where_none_are_stored(d2l):
    with pytest.raises(ValueError, match="stores no gradients"):
        d2l.sgd([], 0.1, 1)


@pytest.mark.only("pytorch", "mxnet")
def test_sgd_takes_gradients_that_are_not_stored(d2l, array, numpy):
    w = array(np.ones(2, "float32"))
    d2l.sgd([w], 0.5, 2, [array(np.full(2, 2, "float32"))])
    np.testing.assert_array_equal(numpy(w), [0.5, 0.5])


def network(framework, device, dropout=0.5):
    """A network with dropout on a device whose logits are the two columns of its input, exactly where none is lost."""
    if framework == "pytorch":
        from torch import eye, nn

        net = nn.Sequential(nn.Dropout(dropout), nn.Linear(2, 2, bias=False)).to(device)
        net[1].weight.data = eye(2)
    elif framework == "tensorflow":
        import keras

        with device:
            dense = keras.layers.Dense(2, use_bias=False, kernel_initializer="identity")
            net = keras.Sequential([keras.Input((2,)), keras.layers.Dropout(dropout), dense])
    elif framework == "jax":
        import jax
        from flax import nnx

        rngs = nnx.Rngs(0)
        with jax.default_device(device):
            net = nnx.Sequential(nnx.Dropout(dropout, rngs=rngs), nnx.Linear(2, 2, use_bias=False, rngs=rngs))
            net.layers[1].kernel[...] = jax.numpy.eye(2)
    else:
        from mxnet import gluon, init, np

        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dropout(dropout), gluon.nn.Dense(2, use_bias=False, in_units=2))
        net.initialize(init.Zero(), ctx=device)
        net[1].weight.set_data(np.eye(2))
    return net


@pytest.fixture
def batches(array):
    """Three minibatches, of 7, 2 and 1, of which the network gets 9 labels of 10 right."""
    logits = np.random.RandomState(0).rand(10, 2).astype("float32")
    y = logits.argmax(1).astype("int32")
    y[4] = 1 - y[4]
    return [(array(logits[part]), array(y[part])) for part in (slice(7), slice(7, 9), slice(9, 10))]


def test_accuracy_is_that_of_the_network_in_evaluation(d2l, framework, batches, two):
    net = network(framework, two[0])
    assert d2l.evaluate_accuracy_gpu(net, batches) == pytest.approx(0.9)
    assert d2l.evaluate_accuracy_gpu(net, batches, two[0]) == pytest.approx(0.9)


def test_accuracy_of_a_function_is_that_of_a_network(d2l, batches, two):
    assert d2l.evaluate_accuracy_gpu(lambda X: X, batches, two[0]) == pytest.approx(0.9)


def test_accuracy_over_replicas_is_that_of_one(d2l, framework, batches, two):
    replicas = [network(framework, device) for device in two]
    assert d2l.evaluate_accuracy_gpus(replicas, batches) == pytest.approx(0.9)
    assert d2l.evaluate_accuracy_gpus(replicas, batches, d2l.split_batch) == pytest.approx(0.9)


@pytest.mark.only("mxnet")
def test_accuracy_of_one_network_on_several_devices(d2l, framework, batches, two):
    assert d2l.evaluate_accuracy_gpus(network(framework, two), batches) == pytest.approx(0.9)


@pytest.mark.only("pytorch")
def test_each_module_is_back_in_its_own_mode_after_the_evaluation(d2l, framework, batches, two):
    net = network(framework, two[0])
    net[0].eval()
    d2l.evaluate_accuracy_gpu(net, batches)
    assert [module.training for module in net.modules()] == [True, False, True]


@pytest.mark.only("jax")
def test_an_nnx_module_is_still_training_after_the_evaluation(d2l, framework, batches, two):
    net = network(framework, two[0])
    d2l.evaluate_accuracy_gpu(net, batches)
    assert not net.layers[0].deterministic


def test_digits_come_in_minibatches_of_the_frameworks_shape_and_all_of_them(d2l, framework, numpy):
    train, test = d2l.load_data_digits(500)
    image = (1, 8, 8) if framework in ("pytorch", "mxnet") else (8, 8, 1)
    shapes = [(tuple(X.shape), tuple(y.shape)) for X, y in train]
    assert shapes == [((n, *image), (n,)) for n in (500, 500, 437)]
    assert (len(train), len(test)) == (3, 1)
    (((X, y)),) = test
    assert (numpy(X).dtype, numpy(y).dtype) == ("float32", "int64" if framework == "pytorch" else "int32")
    assert (numpy(X).min(), numpy(X).max()) == (0, 1)
    assert set(numpy(y).tolist()) == set(range(10))


def test_digits_of_another_size(d2l):
    X = next(iter(d2l.load_data_digits(4, resize=28)[1]))[0]
    assert sorted(X.shape) == [1, 4, 28, 28]


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


def test_resized_pictures_are_those_of_scipy():
    from scipy.ndimage import zoom

    from d2l_utils.data import resized

    images = np.random.RandomState(0).rand(3, 8, 8)
    for side in (5, 8, 28):
        np.testing.assert_allclose(resized(images, side), zoom(images, (1, side / 8, side / 8), order=1), atol=1e-6)
    assert resized(images, 28).dtype == "float32"


def test_a_resnet_gives_a_score_for_each_class(framework, d2l, array, numpy):
    net = d2l.resnet18(10, in_channels=3, width=4)
    if framework == "mxnet":
        net.initialize()
    sides = (3, 12, 12) if framework in ("pytorch", "mxnet") else (12, 12, 3)
    logits = net(array(np.ones((2, *sides), "float32")))
    logits = numpy(logits.detach() if framework == "pytorch" else logits)
    assert logits.shape == (2, 10)
    assert np.isfinite(logits).all()


@pytest.fixture
def images(d2l, framework):
    """The images of the chapter's loop in the framework's shape."""
    return d2l.DigitImages((1, 28, 28) if framework in ("pytorch", "mxnet") else (28, 28, 1))


def optimizer_for(net, framework):
    """A step of 0.05 against the gradient, as the framework's users write it."""
    if framework == "pytorch":
        import torch

        return torch.optim.SGD(net.parameters(), lr=0.05)
    if framework == "tensorflow":
        import keras

        return keras.optimizers.SGD(0.05)
    if framework == "jax":
        import optax
        from flax import nnx

        return nnx.Optimizer(net, optax.sgd(0.05), wrt=nnx.Param)
    from mxnet import gluon

    return gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})


def test_pictures_come_in_whole_minibatches_and_each_at_most_once_an_epoch(d2l, images, numpy):
    minibatches = [(numpy(X), numpy(y)) for X, y in d2l.load_images(images, 256)]
    assert [(X.shape, y.shape) for X, y in minibatches] == [((256, *images.shape), (256,))] * 5
    seen = np.concatenate([X for X, _ in minibatches])
    assert len(np.unique(seen.reshape(len(seen), -1), axis=0)) == 1280
    known = {images[i][0].tobytes(): images[i][1] for i in range(len(images))}
    assert [known[X.tobytes()] for X in seen] == np.concatenate([y for _, y in minibatches]).tolist()


def test_lenet_has_the_same_first_weights_in_every_call_and_learns(d2l, framework, images, array):
    # The same 64 images in every run: some minibatches let a step of this length raise the loss.
    X, y = (array(np.stack(part)) for part in zip(*(images[i] for i in range(64)), strict=True))
    losses = []
    for _ in range(2):
        net = d2l.build_lenet()
        optimizer = optimizer_for(net, framework)
        losses.append([float(d2l.train_step(net, optimizer, X, y)) for _ in range(15)])
    np.testing.assert_allclose(losses[0][:3], losses[1][:3], rtol=1e-3)
    assert 2 < losses[0][0] < 3
    assert losses[0][-1] < losses[0][0]


@pytest.mark.parametrize("shape", [(1, 28, 28), (28, 28, 1)])
def test_a_picture_is_enlarged_when_it_is_asked_for_and_stays_itself(shape):
    from d2l_utils.data import DigitImages, digits

    images, (small, labels, _, _) = DigitImages(shape), digits()
    assert len(images) == len(small) == 1437
    X, y = images[7]
    assert (X.shape, X.dtype, y.dtype, y) == (shape, "float32", "int32", labels[7])
    assert X.min() >= 0
    assert X.max() <= 1
    corners = np.ix_((0, -1), (0, -1))
    np.testing.assert_allclose(X.reshape(28, 28)[corners], small[7][corners], atol=1e-6)


@pytest.mark.parametrize("i", [-1, 1437])
def test_a_picture_that_does_not_exist_is_an_error(i, d2l):
    with pytest.raises(IndexError, match=f"1437 images, from 0 on; {i} is none of them"):
        d2l.DigitImages()[i]
