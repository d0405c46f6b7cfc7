"""References in a Chinese sentence: a title in quotation marks, the number of a formula behind 式."""

import pytest

from book.translations.references import in_sentences


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("下一节 {ref}`sec-a` 说明原因。", "下一节“{ref}`sec-a`”一节说明原因。"),
        ("{doc}`a` 说明原因。", "“{doc}`a`”一节说明原因。"),
        ("请读 {doc}`a`、{doc}`b` 和 {doc}`c`。", "请读“{doc}`a`”、“{doc}`b`”和“{doc}`c`”各节。"),
        ("请读 {doc}`a` 和\n{doc}`b`。", "请读“{doc}`a`”和“{doc}`b`”两节。"),
        ("{doc}`back/models` 列出预测。", "“{doc}`back/models`”一页列出预测。"),
        ("如 {ref}`sec-a` 一节所说", "如“{ref}`sec-a`”一节所说"),
        ("如“{ref}`sec-a`”一节所说", "如“{ref}`sec-a`”一节所说"),
        ("如{ref}`这一节 <sec-a>`所说", "如{ref}`这一节 <sec-a>`所说"),
        ("用 `f`（见 {ref}`sec-a`）", "用 `f`（见 {ref}`sec-a`）"),
        ("用 `f`（快）；{ref}`sec-a`", "用 `f`（快）；“{ref}`sec-a`”一节"),
        ("{doc}`a`：怎样编译", "{doc}`a`：怎样编译"),
        ("| {doc}`a` | 由 {eq}`eq-a` 可知 |", "| {doc}`a` | 由 {eq}`eq-a` 可知 |"),
        ("由 {eq}`eq-a` 可知", "由式 {eq}`eq-a` 可知"),
        ("{eq}`eq-a` 的模型，式 {eq}`eq-b`", "式 {eq}`eq-a` 的模型，式 {eq}`eq-b`"),
        ("上界（{eq}`eq-a`）", "上界（式 {eq}`eq-a`）"),
        ("**预测** {eq}`eq-a` 的曲线", "**预测**式 {eq}`eq-a` 的曲线"),
    ],
)
def test_a_reference_is_shown_as_a_sentence_needs_it(written, shown):
    assert in_sentences(written) == shown
    assert in_sentences(shown) == shown, "and once more changes nothing"
