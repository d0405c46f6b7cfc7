"""What MXNet's folder alone does."""

import pytest
from mxnet import np
from native_mxnet import network


@pytest.mark.parametrize(("threads", "words"), [("1", "each operation computes in one thread"), ("2", "set OMP_NUM")])
def test_it_says_whether_a_stand_in_computes_in_one_thread(threads, words, d2l, monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    d2l.devices(99)
    assert words in capsys.readouterr().out


def test_an_error_of_queued_work_comes_out_of_synchronize(d2l):
    failing = np.random.normal(0, -1, (2, 2))
    with pytest.raises(ValueError, match="scale"):
        d2l.synchronize(failing)


def test_accuracy_of_one_network_on_several_devices(d2l, batches, two):
    assert d2l.evaluate_accuracy_gpus(network(two), batches) == pytest.approx(0.9)
