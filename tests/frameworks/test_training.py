"""Data, accuracy, a step of gradient descent, the split of a minibatch and the networks, against NumPy."""

from importlib import import_module

import numpy as np
import pytest

from d2l_lab.instruments.loops import SEEN, Lever, loss_from_the_start, seconds_of
from d2l_lab.instruments.memory import keep_freed_memory

X = np.arange(20, dtype="float32").reshape(10, 2)
LABELS = np.array([0, 1, 1, 0, 1, 1, 1, 0, 0, 1], "int32")


@pytest.mark.parametrize("logits", [[[0.1, 0.9], [0.8, 0.2], [0.4, 0.6]], [1, 0, 1]])
def test_accuracy_counts_logits_or_classes_that_fit_their_labels(logits, d2l, array):
    y = array(np.array([1, 1, 1], "int32"))
    assert d2l.accuracy(array(np.array(logits, "float32")), y) == 2.0


@pytest.mark.parametrize(("k", "sizes"), [(1, [9]), (2, [5, 4])])
def test_a_split_loses_nothing_and_its_parts_differ_by_at_most_one(k, sizes, d2l, array, numpy, two):
    for whole, parts in zip((X, LABELS), d2l.split_batch(array(X[:9]), array(LABELS[:9]), two[:k]), strict=True):
        assert [len(part) for part in parts] == sizes
        np.testing.assert_array_equal(np.concatenate([numpy(part) for part in parts]), whole[:9])
    with pytest.raises(ValueError, match="10 examples have 3 labels"):
        d2l.split_batch(array(X), array(LABELS[:3]), two)


def test_a_step_of_sgd_goes_against_the_mean_gradient(d2l, native):
    weights = np.array([1, -1], "float32")
    new = native.sgd_step(d2l, X[1:3], weights)
    np.testing.assert_allclose(native.numpy(new), weights - 0.5 * X[1:3].mean(0))


@pytest.mark.only("jax", "tensorflow")
def test_sgd_needs_gradients_where_none_are_stored(d2l):
    with pytest.raises(ValueError, match="stores no gradients"):
        d2l.sgd([], 0.1, 1)


@pytest.mark.only("pytorch", "mxnet")
def test_sgd_takes_gradients_that_are_not_stored(d2l, array):
    w = array(np.ones(2))
    d2l.sgd([w], 0.5, 2, [array(np.full(2, 2.0))])
    assert w.tolist() == [0.5, 0.5]


def test_accuracy_is_that_of_the_network_in_evaluation_of_a_function_or_of_replicas(d2l, native, batches, two):
    net = native.network(two[0])
    for arguments in ((net, batches), (net, batches, two[0]), (lambda X: X, batches, two[0])):
        assert d2l.evaluate_accuracy_gpu(*arguments) == pytest.approx(0.9)
    replicas = [native.network(device) for device in two]
    assert d2l.evaluate_accuracy_gpus(replicas, batches) == pytest.approx(0.9)
    assert d2l.evaluate_accuracy_gpus(replicas, batches, d2l.split_batch) == pytest.approx(0.9)


def test_digits_come_in_the_frameworks_shape_all_of_them_in_a_new_order_every_epoch(d2l, native, numpy):
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

    def epochs():
        loaders = d2l.load_data_digits(100)
        return [[np.concatenate([numpy(y) for _, y in data]).tolist() for _ in range(2)] for data in loaders]

    (first, second), test = epochs()
    assert first != second
    assert sorted(first) == sorted(second)
    assert test[0] == test[1]
    assert test[0][:8] == [7, 9, 4, 7, 0, 2, 6, 1]  # whatever the version of NumPy and of scikit-learn
    assert epochs() == [[first, second], test]


@pytest.mark.only("pytorch", "tensorflow", "jax")
def test_in_bfloat16_lenet_rounds_its_products_and_nothing_that_lasts(d2l, native):
    images = d2l.DigitImages((1, 28, 28) if native.CHANNELS_FIRST else (28, 28, 1))
    X, y = (native.array(np.stack(part)) for part in zip(*(images[i] for i in range(16)), strict=True))
    for build in (d2l.build_lenet, d2l.tuned_lenet):
        exact = native.numpy(build()(X))
        net = d2l.in_bfloat16(build())
        logits = native.numpy(net(X))
        assert logits.dtype == "float32"
        assert 1e-6 < np.abs(logits - exact).max() < 0.02 * np.abs(exact).max()
    optimizer = native.optimizer(net)
    losses = [float(d2l.train_step(net, optimizer, X, y)) for _ in range(5)]
    assert losses[-1] < losses[0]
    weights = [native.numpy(weight) for weight in native.parameters(net)]
    assert {str(weight.dtype) for weight in weights} == {"float32"}
    assert sum(weight.size for weight in weights) == 129_068


def test_loops_with_all_but_fewer_bits_learn_alike_and_their_pieces_add_up(d2l):
    loop_of = import_module(f"{d2l.__name__}.networks").Loop
    chosen = [(), *((lever,) for lever in Lever if lever != Lever.BFLOAT16)]
    losses, models = {}, {}
    for levers in chosen:
        loop = loop_of(levers, models)
        losses[levers] = loss_from_the_start(loop)
        seconds = seconds_of(loop, SEEN, 1)
        assert loop.seen[-1].step == pytest.approx(seconds, rel=0.05, abs=1e-3)
        loop.close()
    keep_freed_memory(False)
    assert losses == pytest.approx(dict.fromkeys(chosen, losses[()]), rel=1e-3)


@pytest.mark.only("mxnet")
def test_mxnets_layers_cannot_be_cast_to_bfloat16(d2l, capsys):
    with pytest.raises(NotImplementedError, match="keep float32"):
        d2l.running_total({"bfloat16": None}, steps=1)
    net = d2l.build_lenet()
    with pytest.raises(KeyError):  # a newer version that has learned it ends this exception
        net.cast(np.dtype([("bfloat16", np.uint16)]))
