"""How far predictions are from measurements, in a line."""

from book.model_errors import miss, models, summary_line


def record(factor, kind="model", name="a product"):
    return {"section": "tiny", "name": name, "kind": kind, "predicted": 2.0, "measured": 2.0 * factor}


def test_a_prediction_misses_alike_in_both_directions():
    assert miss(record(2)) == miss(record(0.5)) == 2


def test_models_are_counted_and_the_worst_is_named_estimates_apart():
    found = [record(1.1), record(1.2), record(1 / 1.5), record(2.1, name="loopback"), record(40, "estimate")]
    assert summary_line(found) == (
        "4 models, median 1.35 ×, 75 % within 1.5 ×, worst 2.10 × (tiny: loopback); 1 estimate"
    )
    assert [each["kind"] for each in models(found)] == ["model"] * 4


def test_estimates_alone_are_no_models():
    assert summary_line([record(3, "estimate"), record(1, "estimate")]) == "no models; 2 estimates"
