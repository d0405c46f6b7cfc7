"""The house style of the Chinese book: what a translator's check names, and what only resembles a slip."""

import pytest

from book.translations.style import RULES, habits

ALL = frozenset(RULES)


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ("达到峰值的 95 %。", ["percent"]),
        ("快 1.5 ×，最多 2.6 × 和 51 倍", ["times", "times"]),
        ("取 1,000 步，再取 10 000 步", ["thousands", "thousands"]),
        ("对 $M$ =（128，4）、（768, 12）", ["shape", "shape"]),
        ("于2026年测得", ["date"]),
        ("**预测**。总和停在 256。", ["predict"]),
        ("前端可以提前运行", ["ahead"]),
        ("再发送 $k-1$ 次和，其他链路则闲着", ["sum"]),
        ("八份和再从这里出去", ["sum"]),
        ("再把和发送回去", ["sum"]),
        ("求一次大的和，还是一千次小的和？", ["sum", "sum"]),
    ],
)
def test_a_slip_against_the_style_is_named(written, rules):
    found = [habits(written, frozenset([rule])) for rule in RULES]
    assert habits(written, ALL) == sum(found, [])
    named = [rule for rule, slips in zip(RULES, found, strict=True) for _ in slips]
    assert named == rules


@pytest.mark.parametrize(
    "written",
    [
        "达到 95%，`f(1,000)` 为 `5 %`",
        "2048 × 2048 的矩阵，9 × LeNet，输出中的 2.00 × 表示两倍",
        "1000 步，10,000 步，267,436 个，1,234,567 个",
        "矩阵 (128, 4)，（1）第一步，（2，见上）",
        "2026 年 11 月 26 日",
        "**预测**：总和停在 256。预测。",
        "发送和接收，求总和，求和之后，份额和总量",
        "AVX-512 512 位，AVX2 256 位",
    ],
)
def test_what_resembles_a_slip_is_none(written):
    assert habits(written, ALL) == []
