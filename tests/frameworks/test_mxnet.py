"""What MXNet's folder alone does."""

import shutil

import pytest
from mxnet import autograd, np, npx
from mxnet.gluon import nn
from native_mxnet import network

from d2l_utils.mxnet.operators import compile_operator, load_operator


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


CUBE = """
#include <mxnet/lib_api.h>
using Arrays = std::vector<mxnet::ext::MXTensor>;
void forward(Arrays &in, Arrays &out) {
  for (int i = 0; i < in[0].size(); i++) {
    float x = in[0].data<float>()[i];
    out[0].data<float>()[i] = x * x * x;
  }
}
void backward(Arrays &in, Arrays &out) {  // in: the gradient of the result, x
  for (int i = 0; i < in[1].size(); i++) {
    float x = in[1].data<float>()[i];
    out[0].data<float>()[i] = 3 * x * x * in[0].data<float>()[i];
  }
}
"""


FIRST = """
#include <mxnet/lib_api.h>
using Arrays = std::vector<mxnet::ext::MXTensor>;
void forward(Arrays &in, Arrays &out) {  // the first of two parts of each row
  for (int i = 0; i < out[0].size(); i++) out[0].data<float>()[i] = in[0].data<float>()[i / 2 * 4 + i % 2];
}
void backward(Arrays &in, Arrays &out) {
  for (int i = 0; i < in[0].size(); i++) out[0].data<float>()[i / 2 * 4 + i % 2] = in[0].data<float>()[i];
}
"""


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
def test_the_rows_of_an_operators_result_may_be_a_part_as_long_as_those_of_its_input(tmp_path):
    (tmp_path / "first.cc").write_text(FIRST)
    load_operator(compile_operator(str(tmp_path / "first.cc"), 1, parts=2))
    x = np.arange(8).reshape(2, 4)
    x.attach_grad()
    with autograd.record():
        y = npx._op.first(x)
    y.backward()
    assert np.array_equal(y, np.array([[0, 1], [4, 5]]))
    assert np.array_equal(x.grad, np.array([[1, 1, 0, 0], [1, 1, 0, 0]]))


@pytest.mark.skipif(not shutil.which("c++"), reason="no C++ compiler")
def test_an_operator_in_cpp_has_a_gradient_and_works_in_a_hybridized_block(tmp_path):
    (tmp_path / "cube.cc").write_text(CUBE)
    load_operator(compile_operator(str(tmp_path / "cube.cc"), 1))
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    block = nn.HybridLambda(lambda F, x: F.npx._op.cube(x + 1))
    block.hybridize()
    with autograd.record():
        y = block(x)
    y.backward()
    assert np.array_equal(npx._op.cube(x), np.array([1.0, 8.0, 27.0]))
    assert np.array_equal(y, np.array([8.0, 27.0, 64.0]))
    assert np.array_equal(x.grad, np.array([12.0, 27.0, 48.0]))
