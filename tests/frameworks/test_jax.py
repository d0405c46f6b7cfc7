"""What JAX's folder alone does."""

import numpy as np
from native_jax import network


def test_an_nnx_module_is_still_training_after_the_evaluation(d2l, batches, two):
    net = network(two[0])
    d2l.evaluate_accuracy_gpu(net, batches)
    assert not net.layers[0].deterministic


def test_a_residual_block_takes_as_many_channels_as_it_gives_unless_it_is_told(d2l, array):
    X = array(np.ones((2, 4, 4, 3), "float32"))
    assert d2l.Residual(3)(X).shape == (2, 4, 4, 3)
    assert d2l.Residual(5, use_1x1conv=True, strides=2, in_channels=3)(X).shape == (2, 2, 2, 5)
