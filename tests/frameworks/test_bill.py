"""What each framework records of a step, beside counts by hand."""

import numpy as np
import pytest

FORWARD = [2 * 9 * 20 * 26 * 26, 2 * 25 * 20 * 50 * 9 * 9, 2 * 800 * 128, 2 * 128 * 10]  # flops of LeNet's products


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setenv("D2L_QUICK", "1")


def flops(bill):
    return sum(row.flops for row in bill.rows.values())


@pytest.fixture
def lenet_step(d2l, native):
    net = d2l.build_lenet()
    optimizer = native.optimizer(net)
    return lambda X, y: d2l.train_step(net, optimizer, X, y)


def test_the_flops_of_lenet_are_those_counted_by_hand(framework, d2l, lenet_step, quick):
    """A minibatch of 5, which has no half. Only TensorFlow's eager tape computes the gradient of the images too."""
    X, y = next(iter(d2l.load_data_digits(5, resize=28)[0]))
    bill = d2l.bill(lenet_step, X, y)
    assert flops(bill) == 5 * (3 * sum(FORWARD) - (0 if framework == "tensorflow" else FORWARD[0]))
    assert bill.seconds > 0
    assert "Control: 2 of 5 rows" in bill.sentence


def test_a_step_that_fails_is_named_in_one_line(d2l, array, quick):
    def step(X, y):
        return X @ X

    with pytest.raises(ValueError, match="^the step fails: ") as caught:
        d2l.bill(step, array(np.ones((4, 3), "float32")), array(np.ones(4, "float32")))
    assert "\n" not in str(caught.value)


def test_edges_that_refer_to_nodes_leave_no_verdict(d2l, array, quick):
    """Where a framework clamps places out of range, the half would run, and would be about nothing."""
    nodes, edges = array(np.ones((6, 3), "float32")), array(np.arange(8, dtype="int32") % 6)
    bill = d2l.bill(lambda X, y: X["nodes"] + y, {"nodes": nodes, "edges": edges}, nodes)
    assert bill.sentence == "No verdict: arrays of 6 and of 8 rows have no common half."
    assert bill.cause == ""


def recorded(d2l, run):
    """Return the rows of a recorded run, which waits for its results."""

    def wait():
        run()
        d2l.synchronize()

    wait()
    return d2l.recorder(wait)().rows


@pytest.mark.only("pytorch")
@pytest.mark.parametrize("causal", [False, True])
def test_attention_on_a_cpu_has_the_flops_counted_by_hand(causal, d2l):
    """Two products forward and five backward, for each of the pairs of 8 positions; half of these if it is causal."""
    import torch

    q, k, v = (torch.rand(2, 3, 8, 4, requires_grad=True) for _ in range(3))
    attention = torch.nn.functional.scaled_dot_product_attention
    rows = recorded(d2l, lambda: attention(q, k, v, is_causal=causal).sum().backward())
    pairs = 8 * 9 / 2 if causal else 8 * 8
    found = {name: row.flops for name, row in rows.items() if row.flops}
    assert [*found.values()] == [2 * 2 * 3 * pairs * 4 * products for products in (2, 5)]


@pytest.mark.only("pytorch")
def test_lstm_on_a_cpu_has_the_flops_counted_by_hand(d2l):
    """Four gates of 5 × (3 + 5) weights for each of 7 × 2 inputs, and twice as much backward."""
    import torch

    lstm, x = torch.nn.LSTM(3, 5), torch.rand(7, 2, 3)
    rows = recorded(d2l, lambda: lstm(x)[0].sum().backward())
    found = {name: row.flops for name, row in rows.items() if row.flops}
    forward = 2 * 7 * 2 * 4 * 5 * (3 + 5)
    assert found == {"mkldnn_rnn_layer": forward, "mkldnn_rnn_layer_backward": 2 * forward}


@pytest.mark.only("pytorch")
def test_bytes_are_those_of_each_array_once_and_twice_if_it_changes(d2l):
    import torch

    x, y, table = torch.ones(256), torch.ones(256), torch.ones(100, 4)
    ids = torch.arange(8)
    cases = {
        "add": (lambda: x + y, 3 * 1024),
        "add_": (lambda: x.add_(y), 3 * 1024),
        "zero_": (lambda: x.zero_(), 1024),
        "view": (lambda: x.view(16, 16), 0),
        "embedding": (lambda: torch.nn.functional.embedding(ids, table), 2 * 8 * 16 + 64),
        "sum": (lambda: x[:1].expand(256).sum(), 8),  # one number, though its shape has 256
    }
    for name, (run, expected) in cases.items():
        rows = recorded(d2l, run)
        assert rows[name].bytes <= expected * 256 if name == "sum" else rows[name].bytes == expected, name


@pytest.mark.only("pytorch")
def test_a_row_has_the_time_of_what_its_operation_calls_and_on_a_gpu_the_device_s(d2l):
    from types import SimpleNamespace

    from d2l_lab.protocol import Row
    from d2l_utils.torch.collect import _add_seconds

    def event(name, cpu, device, parent=None):
        return SimpleNamespace(name=name, cpu_parent=parent, self_cpu_time_total=cpu, self_device_time_total=device)

    node = event("autograd::evaluate_function", 9, 0)
    outer = event("aten::embedding_dense_backward", 4, 400, node)
    inner = event("aten::fill_", 5, 300, outer)
    alone, wrapper = event("aten::fill_", 2, 100), event("aten::linear", 1, 0)
    other, kernel = event("aten::_index_put_impl_", 7, 10, node), event("a kernel", 0, 700)
    for clock, expected in (("cpu", [9e-6, 2e-6, 7e-6, 1e-6]), ("device", [7e-4, 1e-4, 1e-5, 0])):
        rows = {"embedding_dense_backward": Row(), "fill_": Row(), "index_put": Row()}
        _add_seconds(rows, [node, outer, inner, alone, wrapper, other, kernel], f"self_{clock}_time_total")
        assert [row.seconds for row in rows.values()] == pytest.approx(expected)
        assert rows["(others)"].uncounted == 1


@pytest.mark.only("jax")
def test_the_body_of_a_scan_counts_as_often_as_it_runs(d2l):
    import jax
    from jax import numpy as jnp

    W, x = jnp.ones((16, 16)), jnp.ones((7, 4, 16))
    run = jax.jit(lambda W, x: jax.lax.scan(lambda h, x: (jnp.tanh(x @ W + h), h), jnp.zeros((4, 16)), x))
    rows = recorded(d2l, lambda: run(W, x))
    assert sum(row.flops for row in rows.values()) == 7 * 2 * 4 * 16 * 16
    step = jax.jit(jax.grad(lambda W, x: run(W, x)[0].sum()))
    rows = recorded(d2l, lambda: step(W, x))
    assert sum(row.flops for row in rows.values()) == 2 * 7 * 2 * 4 * 16 * 16  # x has no gradient


@pytest.mark.only("jax")
def test_only_the_part_of_an_array_that_a_program_touches_counts(d2l):
    import jax
    from jax import numpy as jnp

    table, ids = jnp.ones((10_000, 16)), jnp.arange(32)
    lookup = jax.jit(lambda table, ids: table[ids])
    assert sum(row.bytes for row in recorded(d2l, lambda: lookup(table, ids)).values()) < 20_000
    stack = jax.jit(lambda x: jax.lax.scan(lambda h, x: (h + x, h), jnp.zeros(1000), x))
    x = jnp.ones((50, 1000))
    assert sum(row.bytes for row in recorded(d2l, lambda: stack(x)).values()) < 10 * 50 * 4000


GEMM = """HloModule jit_step

ENTRY %main.1 (a: f32[4,8], b: f32[8,2]) -> f32[4,2] {
  %a = f32[4,8]{1,0} parameter(0)
  %b = f32[8,2]{1,0} parameter(1)
  ROOT %gemm.1 = (f32[4,2]{1,0}, s8[64]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", \
backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"]}}}
}
"""


@pytest.mark.only("jax")
def test_a_gpu_s_event_has_the_flops_of_the_library_s_product_in_its_program(d2l):
    from types import SimpleNamespace

    from d2l_lab.instruments.bill import Touched
    from d2l_utils.jax.collect import _instructions, _record

    stats = [("hlo_op", "gemm.1"), ("program_id", 7)]
    events = [SimpleNamespace(name="sgemm", start_ns=5, duration_ns=3e6, stats=stats)]
    record = _record(1.0, events, {7: _instructions(GEMM)}, Touched())
    (row,) = record.rows.values()
    assert (row.flops, row.calls, row.uncounted) == (2 * 4 * 8 * 2, 1, 0)
    assert row.seconds == pytest.approx(3e-3)
    assert row.bytes == 4 * (4 * 8 + 8 * 2 + 4 * 2) + 64


@pytest.mark.only("jax")
def test_on_a_gpu_streams_count_alone_and_several_kernels_of_an_instruction_once(d2l):
    from types import SimpleNamespace as Of

    from d2l_lab.instruments.bill import Touched
    from d2l_utils.jax.collect import _events, _instructions, _record

    names, stats = ["sgemm", "split", "sgemm", "split"], [("hlo_op", "gemm.1"), ("program_id", 7)]
    stream = [Of(name=name, start_ns=i, duration_ns=1e6, stats=stats) for i, name in enumerate(names)]
    lines = [Of(name="Stream #13", events=stream), Of(name="XLA Ops", events=stream)]
    planes = [Of(name="/device:GPU:0", lines=lines), Of(name="/host:CPU", lines=[Of(name="a", events=stream)])]
    assert _events(Of(planes=planes)) == stream
    (row,) = _record(1.0, stream, {7: _instructions(GEMM)}, Touched()).rows.values()
    assert (row.flops, row.calls) == (2 * 2 * 4 * 8 * 2, 2)


@pytest.mark.only("jax")
def test_a_gpu_s_programs_are_found_by_name_and_a_command_buffer_s_kernels_too(d2l):
    """An H200's trace calls jit_train 4640, and its module's number is 4; kernels run in one command buffer."""
    from types import SimpleNamespace as Of

    from d2l_lab.instruments.bill import Touched
    from d2l_utils.jax.collect import _by_name, _instructions, _record

    text = GEMM.replace("gemm.1", "gemm_fusion_dot.7")
    texts = [text.replace("4,", "2,"), text, text.replace("gemm_fusion_dot.7", "copy.28")]  # the newest first
    modules = [Of(name="jit_train", to_string=lambda text=text: text) for text in texts]
    modules.append(Of(name="jit_add", to_string=lambda: GEMM))
    one = {4640: ("jit_train", {"gemm_fusion_dot.7"})}
    assert _by_name(one, modules, {}) == {4640: texts[0]}
    assert _by_name(one, modules, {5303: texts[0]}) == {4640: texts[1]}
    assert _by_name({4640: ("jit_train", {"copy.28", "copy.29"})}, modules, {}) == {4640: texts[2]}
    assert _by_name(one | {5303: one[4640]}, modules, {}) == {4640: "", 5303: ""}  # which of three is not sure
    assert _by_name(one | {5303: one[4640]}, modules[:2], {}) == {5303: texts[0], 4640: texts[1]}
    assert _by_name({7: ("jit_tanh", set())}, modules, {}) == {7: ""}
    stats = [("hlo_op", "command_buffer_1"), ("hlo_module", "jit_train"), ("program_id", 4640)]
    names = ["memcpy32_post", "gemm_fusion_dot_7", "gemm_fusion_dot_7"]
    events = [Of(name=name, start_ns=1e6 * i, duration_ns=1e6, stats=stats) for i, name in enumerate(names)]
    rows = _record(1.0, events, {4640: _instructions(text)}, Touched()).rows
    assert [(row.flops, row.calls, row.uncounted) for row in rows.values()] == [(0, 1, 1), (2 * 2 * 4 * 8 * 2, 2, 0)]


@pytest.mark.only("jax")
@pytest.mark.parametrize(("of", "came", "other", "made"), [("Forward", 3, 1, 2), ("BackwardInput", 2, 1, 3),
                                                            ("BackwardFilter", 3, 2, 1)])  # fmt: skip
def test_all_convolutions_of_a_gpu_s_library_have_the_forward_pass_s_flops(of, came, other, made, d2l):
    from d2l_utils.jax.collect import _instructions

    shapes = {1: "f32[3,3,2,5]", 2: "f32[1,4,4,5]", 3: "f32[1,4,4,2]"}  # weights, outputs, inputs
    text = f"""ENTRY %main.1 (a: {shapes[came]}, b: {shapes[other]}) -> {shapes[made]} {{
  %a = {shapes[came]} parameter(0)
  %b = {shapes[other]} parameter(1)
  ROOT %conv = ({shapes[made]}, u8[0]) custom-call(%a, %b), window={{size=3x3 pad=1_1x1_1}}, \
dim_labels=b01f_01io->b01f, custom_call_target="__cudnn$conv{of}"
}}
"""
    assert _instructions(text)["conv"][2] == 2 * 2 * 5 * 10 * 10


@pytest.mark.only("jax")
def test_a_convolution_s_padding_has_no_flops(d2l):
    """Of 4 × 3 pairs of places and taps in each direction, two lie outside."""
    from d2l_utils.jax.collect import _convolution

    rest = "%x, %w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"
    assert _convolution(rest, [1, 4, 4, 2], [3, 3, 2, 5], [1, 4, 4, 5]) == 2 * 2 * 5 * 10 * 10
    rest = "%g, %w), window={size=3x3 pad=2_2x2_2 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f"
    assert _convolution(rest, [1, 2, 2, 1], [3, 3, 1, 1], [1, 5, 5, 1]) == 2 * 6 * 6  # each input meets each tap


@pytest.mark.only("tensorflow")
def test_on_a_gpu_the_device_s_times_stand_for_those_of_issuing(d2l):
    from d2l_lab.instruments.bill import Touched
    from d2l_utils.tensorflow.collect import XSpace, _record

    space = XSpace()
    for plane, name, picoseconds in (("/host:CPU", "net/MatMul:MatMul", 5e6), ("/device:GPU:0", "sgemm", 3e9)):
        made = space.planes.add(name=plane)
        made.event_metadata[1].name = name
        made.stat_metadata[1].name = "tf_op"
        event = made.lines.add().events.add(metadata_id=1, duration_ps=int(picoseconds))
        if name == "sgemm":
            event.stats.add(metadata_id=1, str_value="net/MatMul:MatMul")
    rows = _record(1.0, space, [], {}, Touched()).rows
    assert {name: row.seconds for name, row in rows.items()} == {"MatMul": pytest.approx(3e-3)}


@pytest.mark.only("tensorflow")
def test_a_fused_operation_has_the_flops_of_its_product(d2l):
    import tensorflow as tf

    W, b, x = tf.Variable(tf.ones((16, 8))), tf.Variable(tf.ones(8)), tf.ones((4, 16))
    run = tf.function(lambda: tf.nn.relu(tf.nn.bias_add(x @ W, b)))
    rows = recorded(d2l, run)
    assert sum(row.flops for row in rows.values()) == 2 * 4 * 16 * 8
    assert any("Fused" in name for name, row in rows.items() if row.flops)


@pytest.mark.only("tensorflow")
def test_the_body_of_a_loop_counts_as_often_as_it_runs_and_eager_operations_count(d2l):
    import tensorflow as tf

    W, x = tf.Variable(tf.ones((16, 16))), tf.ones((4, 16))
    run = tf.function(lambda: tf.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, h @ W), (0, x)))
    rows = recorded(d2l, run)
    assert rows["MatMul"].flops == 5 * 2 * 4 * 16 * 16
    rows = recorded(d2l, lambda: tf.einsum("ij,kj->ik", x, W) + tf.linalg.matmul(x, W))
    assert sum(row.flops for row in rows.values()) == 2 * 2 * 4 * 16 * 16


@pytest.mark.only("mxnet")
@pytest.mark.parametrize("hybrid", [False, True])
def test_a_backward_pass_has_a_product_for_each_array_that_needs_its_gradient(hybrid, d2l):
    from mxnet import autograd, gluon
    from mxnet import np as mnp

    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, "relu"), gluon.nn.Dense(2))
    net.initialize()
    x = mnp.ones((4, 16))
    net(x)
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)

    def run():
        with autograd.record():
            out = net(x)
        out.backward()

    first, second = 2 * 4 * 16 * 8, 2 * 4 * 8 * 2
    rows = recorded(d2l, run)
    assert rows["FullyConnected"].flops == first + second
    assert rows["_backward_FullyConnected"].flops == first + 2 * second
    assert net._active is hybrid


@pytest.mark.only("mxnet")
@pytest.mark.parametrize(("layers", "both"), [(1, False), (2, True)])
def test_an_lstm_has_the_flops_counted_by_hand(layers, both, d2l):
    from mxnet import autograd, gluon
    from mxnet import np as mnp

    lstm, x = gluon.rnn.LSTM(5, layers, bidirectional=both), mnp.ones((7, 2, 3))
    lstm.initialize()
    lstm(x)

    def run():
        with autograd.record():
            out = lstm(x)
        out.backward()

    weights = sum(p.data().size for name, p in lstm.collect_params().items() if name.endswith("weight"))
    rows = recorded(d2l, run)
    assert rows["RNN"].flops == 2 * 7 * 2 * weights
    assert rows["_backward_RNN"].flops == 2 * 7 * 2 * weights  # of the weights; the input needs none
