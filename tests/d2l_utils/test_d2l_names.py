"""D2L's names that are the same in all frameworks."""

import pytest

from d2l_utils.d2l_names import Accumulator, Benchmark


def test_a_benchmark_prints_its_description_and_seconds(capsys):
    with Benchmark("nap") as benchmark:
        pass
    with Benchmark() as unnamed:
        pass
    first, second = (f"{each.timer.sum():.4f} sec" for each in (benchmark, unnamed))
    assert capsys.readouterr().out == f"nap: {first}\nDone: {second}\n"


def test_a_benchmark_whose_block_raises_prints_nothing(capsys):
    with pytest.raises(KeyError), Benchmark():
        raise KeyError
    assert capsys.readouterr().out == ""


def test_an_accumulator_sums_each_quantity_until_it_is_reset():
    sums = Accumulator(2)
    sums.add(1, 2)
    sums.add(3, 4)
    assert (sums[0], sums[1]) == (4.0, 6.0)
    sums.reset()
    assert sums.data == [0.0, 0.0]


def test_an_accumulator_refuses_another_number_of_quantities():
    with pytest.raises(ValueError, match="shorter"):
        Accumulator(2).add(1)
