"""What MXNet's folder alone does."""

import pytest
from mxnet import np
from native_mxnet import network
from test_synchronize import share_of_issuing


@pytest.mark.parametrize(("threads", "words"), [("1", "each operation computes in one thread"), ("2", "set OMP_NUM")])
def test_it_says_whether_a_stand_in_computes_in_one_thread(threads, words, d2l, monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    assert len(d2l.devices(99)) == 99
    assert words in capsys.readouterr().out


def test_work_is_issued_long_before_it_is_done(d2l, work, numpy):
    assert share_of_issuing(d2l, work, numpy) < 0.5


def test_an_error_of_queued_work_comes_out_of_synchronize(d2l):
    failing = np.random.normal(0, -1, (2, 2))
    with pytest.raises(ValueError, match="scale"):
        d2l.synchronize(failing)


def test_sgd_takes_gradients_that_are_not_stored(d2l):
    w = np.ones(2)
    d2l.sgd([w], 0.5, 2, [np.full(2, 2.0)])
    assert w.tolist() == [0.5, 0.5]


def test_accuracy_of_one_network_on_several_devices(d2l, batches, two):
    assert d2l.evaluate_accuracy_gpus(network(two), batches) == pytest.approx(0.9)
