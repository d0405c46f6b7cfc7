"""What JAX's folder alone does."""

import numpy as np
import pytest
from native_jax import network, on
from test_synchronize import share_of_issuing


def test_more_devices_than_were_made_before_the_start_are_an_error_that_names_the_cure(d2l):
    on(d2l.try_gpu(), np.ones(2, "float32"))
    with pytest.raises(RuntimeError, match=r"restart the kernel and call devices\(77\)"):
        d2l.devices(77)


def test_work_is_issued_long_before_it_is_done(d2l, work, numpy):
    assert share_of_issuing(d2l, work, numpy) < 0.5


def test_sgd_needs_gradients(d2l):
    with pytest.raises(ValueError, match="stores no gradients"):
        d2l.sgd([], 0.1, 1)


def test_an_nnx_module_is_still_training_after_the_evaluation(d2l, batches, two):
    net = network(two[0])
    d2l.evaluate_accuracy_gpu(net, batches)
    assert not net.layers[0].deterministic


def test_a_residual_block_takes_as_many_channels_as_it_gives_unless_it_is_told(d2l, array):
    X = array(np.ones((2, 4, 4, 3), "float32"))
    assert d2l.Residual(3)(X).shape == (2, 4, 4, 3)
    assert d2l.Residual(5, use_1x1conv=True, strides=2, in_channels=3)(X).shape == (2, 2, 2, 5)
