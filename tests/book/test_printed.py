"""What our packages have printed in a cell is shown in the language of the page; what has no translation stays."""

import pytest

from book import ROOT
from book.layout import Edition
from book.outputs import SVG, presentable
from book.translations import CHINESE
from book.words import say_printed, set_language
from d2l_lab.instruments.display import columns
from d2l_lab.machine.datasheets import specifications


@pytest.fixture(autouse=True)
def chinese():
    set_language(Edition(ROOT, CHINESE))
    yield
    set_language(Edition(ROOT))


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("✓ product: 3 cases hold\n", "✓ product：3 个用例全部通过\n"),
        (
            "✗ halves(2, 1) returned 3\n  Hint: a gain is the old time over the new one\n",
            "✗ halves(2, 1) 返回了 3\n  提示：加速比是旧的用时除以新的用时\n",
        ),
        (
            "attention: fused: it gains: kept (pairs: 6), 8.55 ms a step, 59,893 tokens/s",
            "注意力：融合：有收益，保留（6 对），每步 8.55 ms，每秒 59,893 个词元",
        ),
        (
            "load 1.00 of it\nwith s = 2, best m: predicted 1, found 4",
            "load 1.00 of it\ns = 2 时，最佳的 m：预测 1，找到 4",
        ),
        ("   1 rows     1.43 ms    46.9 GB/s       23 Gflop/s", "   1 行     1.43 ms    46.9 GB/s       23 Gflop/s"),
        ("all anew      promised   128 tokens/s, obtained    95", "全部重新计算  预计每秒   128 个词元，实得    95 个"),
        (
            "product, float32: today 3.00 Gflop/s, 4.00 Gflop/s when the profile was made",
            "乘法，float32：今天为 3.00 Gflop/s，建立档案时为 4.00 Gflop/s",
        ),
        (
            "2.1 s later rank 0 ended with status 1, rank 1 was ended by SIGKILL; 3 and 4 steps",
            "2.1 s 之后 rank 0 以状态 1 结束，rank 1 被 SIGKILL 终止；3 步和 4 步",
        ),
        ("rank 0 is here, rank 1 still", "rank 0 is here, rank 1 still"),
    ],
)
def test_lines_of_our_packages_and_of_cells_are_translated(printed, shown):
    assert say_printed(printed) == shown


def test_a_table_has_its_names_and_keeps_its_columns():
    printed = (
        "issued    1.20 ms (1.10 … 1.30; 5 runs of 2)  1.00 ×\nfinished  12.0 ms (11.0 … 13.0; 1 run of 1)   10.0 ×\n"
    )
    shown = (
        "发出  1.20 ms (1.10 … 1.30; 5 轮，每轮 2 次)  1.00 ×\n完成  12.0 ms (11.0 … 13.0; 1 轮，每轮 1 次)  10.0 ×\n"
    )
    assert say_printed(printed) == shown


BILL = """\
operation                 calls    Mflop      MB   bound by        took   waste
mm                            6     50.5    2.30    0.23 flops     0.31    0.08
(others)                      1      0.0    0.00    0.00 calls?    0.04    0.04
(17 more)                    60      0.0    1.60    0.06           0.18    0.13
sum, in ms                  103     75.7  109.91    1.96           2.69    0.73
the step beside it                                                 3.51
between operations                                                 0.82
the step alone                                                     2.88
?: some calls are not counted
"""


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (
            "→ 45% of the step is moving bytes: move fewer (fuse, narrower numbers,\n"
            "  sparse gradients). The largest part is 14 × add_, 0.89 of 2.88 ms.\n"
            "  Control: 256 of 512 rows take 0.83 of the step, so 128 should take\n"
            "  0.75; they take 0.73.",
            "→ 这一步的 45% 是搬运字节：少搬一些（融合、减少位数、稀疏梯度）。最大的部分是 14 × add_，"
            "2.88 ms 中占 0.89 ms。"
            "对照：512 行中取 256 行，用时是整步的 0.83；因此 128 行应为 0.75，实测为 0.73。",
        ),
        (
            "→ No verdict: a tie between kernels far from their bounds (36% … 38%)\n"
            "  and the fixed cost of calls and of Python (30% … 31%). The largest\n"
            "  waste is in between operations, 1.95 of 7.58 ms. Control: 256 of 512\n"
            "  rows take 0.95 of the step, so 128 should take 0.93; they take 0.94.",
            "→ 没有结论：远离下界的核函数（36% … 38%）与调用和 Python 的固定开销（30% … 31%）难分高下。"
            "最大的浪费在操作之间，7.58 ms 中占 1.95 ms。"
            "对照：512 行中取 256 行，用时是整步的 0.95；因此 128 行应为 0.93，实测为 0.94。",
        ),
    ],
)
def test_a_bill_has_its_words_where_they_were_and_its_sentences(printed, shown):
    table, arrow, sentences = say_printed(BILL + printed).partition("→")
    assert table == (
        "操作                       调用    Mflop      MB   下界            用时    浪费\n"
        "mm                            6     50.5    2.30    0.23 算术      0.31    0.08\n"
        "（其他）                      1      0.0    0.00    0.00 调用?     0.04    0.04\n"
        "（另有 17 项）               60      0.0    1.60    0.06           0.18    0.13\n"
        "合计，ms                    103     75.7  109.91    1.96           2.69    0.73\n"
        "同时测量的一步                                                     3.51\n"
        "操作之间                                                           0.82\n"
        "单独的一步                                                         2.88\n"
        "?：有些调用没有清点\n"
    )
    assert "".join((arrow + sentences).split()) == "".join(shown.split())
    lines = sentences.split("\n")
    assert all(60 < columns(line) <= 70 for line in lines[:-1])
    assert not any(line.strip()[0] in "，。；：）" or line[-1] == "（" for line in lines)


def test_a_bill_without_a_verdict_leaves_what_comes_behind_it():
    assert say_printed(BILL + "mean 3.0 ms\n").endswith("mean 3.0 ms\n")


def test_a_sentence_that_was_wrapped_is_wrapped_again():
    printed = "  nine of ten test digits are right after: 2.78 s as written, 0.615 s\n  with the levers kept\nx\n"
    first, *others = say_printed(printed).split("\n")
    assert first.startswith("  训练这么久之后")
    assert "0.615 s" in "".join(others)
    assert others[-2:] == ["x", ""]


def test_pages_and_slides_show_it_but_not_what_went_to_stderr_or_is_a_value():
    stdout, stderr = (
        {"output_type": "stream", "name": name, "text": "✓ f: 3 cases hold"} for name in ("stdout", "stderr")
    )
    value = {"output_type": "execute_result", "data": {"text/plain": "a page: predicted 2.00 ms"}, "metadata": {}}
    found = presentable([stdout, stderr, value])
    assert [each.get("text") for each in found[:2]] == ["✓ f：3 个用例全部通过", "✓ f: 3 cases hold"]
    assert found[2]["data"] == {"text/plain": "a page：预测 2.00 ms"}


def test_a_drawing_and_its_alternative_text_are_in_the_language():
    svg = '<svg viewBox="0 0 9 9"><text x="1">time in ms</text><text>worker 2</text><text>float32</text></svg>'
    alt = "Timeline “a step” of 9.5 ms. worker 2: 12 × wait between 0 and 9 ms, 3 ms in all; update from 9 to 9.5 ms."
    output = {"output_type": "display_data", "data": {SVG: svg}, "metadata": {SVG: {"alt": alt}}}
    (shown,) = presentable([output])
    labels = '<text x="1">时间（ms）</text><text>工作节点 2</text><text>float32</text>'
    assert shown["data"][SVG] == f'<svg xml:lang="zh-CN" viewBox="0 0 9 9">{labels}</svg>'
    assert shown["metadata"][SVG]["alt"] == (
        "时间线“一步”，全长 9.5 ms。工作节点 2：0 到 9 ms 之间 12 次等待，共 3 ms；更新从 9 到 9.5 ms。"
    )
    set_language(Edition(ROOT))
    assert presentable([output]) == [output]


def test_a_table_of_hardware_has_its_heads_notes_and_sources_in_the_language():
    chosen = specifications("links", quantities=["bandwidth"])
    output = {"output_type": "execute_result", "data": {"text/markdown": chosen.markdown()}, "metadata": {}}
    shown = presentable([output])[0]["data"]["text/markdown"]
    assert shown.split("\n")[0] == "| 名称 | 带宽，GB/s |"
    assert "查阅" in shown
    assert "one direction" not in shown
    other = output | {"data": {"text/markdown": "| figure | x |\n| :--- | ---: |\n| width | 2 |"}}
    assert presentable([other]) == [other]
