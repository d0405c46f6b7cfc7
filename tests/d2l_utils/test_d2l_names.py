"""D2L's names that are the same in all frameworks, and its images of clothes, of which nothing is downloaded here."""

from urllib.error import URLError

import numpy as np
import pytest

from d2l_utils.d2l_names import Accumulator, Benchmark, fashion_mnist, mean_accuracy

PIXELS = (np.arange(70000) % 256).astype("uint8").repeat(784).reshape(70000, 784)
LABELS = np.array([str(i % 10) for i in range(70000)], dtype=object)


@pytest.fixture
def downloads(tmp_path, monkeypatch):
    """The numbers of the data sets that were downloaded: the first is made here, and kept in a folder of this test."""
    asked = []

    def fetch(**options):
        asked.append(options["data_id"])
        return PIXELS, LABELS

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    monkeypatch.setenv("D2L_DATA", str(tmp_path / "new"))
    return asked


def test_fashion_mnist_has_its_images_for_training_first(downloads):
    X_train, y_train, X_test, y_test = fashion_mnist()
    assert [part.shape for part in (X_train, y_train, X_test, y_test)] == [
        (60000, 28, 28),
        (60000,),
        (10000, 28, 28),
        (10000,),
    ]
    assert [part.dtype for part in (X_train, y_train, X_test, y_test)] == ["float32", "int64"] * 2
    np.testing.assert_allclose(X_test[:, 3, 4], np.arange(60000, 70000) % 256 / 255, rtol=1e-6)
    assert y_test.tolist() == [i % 10 for i in range(60000, 70000)]


def test_fashion_mnist_is_downloaded_once(downloads):
    for side in (None, 14):
        assert fashion_mnist(side)[2].shape == (10000, side or 28, side or 28)
    assert downloads == [40996]


@pytest.mark.parametrize("error", [URLError("no route to host"), ValueError("the checksum differs")])
def test_where_fashion_mnist_cannot_be_had_one_line_says_why_and_names_the_digits(error, tmp_path, monkeypatch):
    def fetch(**_):
        raise error

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    monkeypatch.setenv("D2L_DATA", str(tmp_path))
    with pytest.raises(
        RuntimeError, match=r"^cannot download Fashion-MNIST from OpenML \(.*(host|differs).*\): .*digits"
    ):
        fashion_mnist()
    assert list(tmp_path.iterdir()) == []


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


@pytest.fixture
def called():
    """What two replicas, which return their input, and a function that counts right predictions were called with."""
    return []


@pytest.fixture
def accuracy_of(called):
    """A function from the shards of minibatches to the mean accuracy of these replicas."""

    def replica(name):
        return lambda X: called.append((name, X)) or X

    def right(y_hat, y):
        called.append(("right", y))
        return sum(a == b for a, b in zip(y_hat, y, strict=True))

    return lambda shards: mean_accuracy([replica("a"), replica("b")], shards, right)


def test_the_mean_accuracy_counts_every_example_alike(accuracy_of):
    assert accuracy_of([([[1, 2], [3]], [[1, 0], [0]]), ([[4], [5]], [[4], [0]])]) == 2 / 5


def test_all_replicas_compute_before_the_first_result_is_waited_for(accuracy_of, called):
    accuracy_of([([[1], [2]], [[1], [0]])])
    assert called == [("a", [1]), ("b", [2]), ("right", [1]), ("right", [0])]


def test_no_replica_computes_an_empty_part(accuracy_of, called):
    assert accuracy_of([([[1], []], [[1], []])]) == 1
    assert called == [("a", [1]), ("right", [1])]
