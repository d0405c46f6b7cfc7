"""Data sets: images and minibatches of them."""

from time import perf_counter

import numpy as np
import pytest

from d2l_lab.instruments.data import DigitImages, InMemory, Minibatches, digits, resized

X, Y = np.arange(20).reshape(10, 2), np.arange(10)


@pytest.mark.parametrize("side", [5, 8, 14, 28, 187])
@pytest.mark.parametrize("old", [8, 28])
def test_resized_images_are_interpolated_linearly_and_keep_their_corners(old, side):
    images = np.random.RandomState(0).rand(3, old, old)
    places = np.linspace(0, old - 1, side)
    rows = np.array([[np.interp(places, range(old), row) for row in image] for image in images])
    expected = np.array([[np.interp(places, range(old), row) for row in image.T] for image in rows]).swapaxes(1, 2)
    found = resized(images, side)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == "float32"


@pytest.mark.parametrize("shape", [(1, 28, 28), (28, 28, 1)])
def test_an_image_is_enlarged_when_it_is_read_and_stays_itself(shape):
    images, (small, labels, _, _) = DigitImages(shape), digits()
    assert len(images) == len(small) == 1437
    image, label = images[7]
    assert (image.shape, image.dtype, label.dtype, label) == (shape, "float32", "int64", labels[7])
    assert 0 <= image.min() <= image.max() <= 1
    corners = np.ix_((0, -1), (0, -1))
    np.testing.assert_allclose(image.reshape(28, 28)[corners], small[7][corners], atol=1e-6)
    for i in (-1, 1437):
        with pytest.raises(IndexError, match=f"1437 images are numbered from 0; there is no image {i}"):
            images[i]


def test_an_image_from_afar_is_the_same_and_comes_later_and_there_may_be_fewer():
    start = perf_counter()
    image, label = DigitImages(wait=0.05)[7]
    assert perf_counter() - start >= 0.05
    assert (image == DigitImages()[7][0]).all()
    assert label == DigitImages()[7][1]
    assert len(DigitImages(number=64)) == 64
    for number in (0, 1438):
        with pytest.raises(ValueError, match=f"1 to 1437 digits, not {number}"):
            DigitImages(number=number)


def test_minibatches_keep_pairs_together_and_have_a_new_order_every_epoch_the_same_in_every_object():
    minibatches = Minibatches(X, Y, 4, shuffle=True)
    batches = list(minibatches)
    assert [len(y) for _, y in batches] == [4, 4, 2]
    assert len(minibatches) == 3
    assert all((x[:, 0] == 2 * y).all() for x, y in batches)
    with pytest.raises(ValueError, match="10 examples have 9 labels"):
        Minibatches(X, Y[:9], 4, shuffle=True)

    def epochs(shuffle):
        minibatches = Minibatches(X, Y, 10, shuffle)
        return [next(iter(minibatches))[1].tolist() for _ in range(3)]

    orders = epochs(shuffle=True)
    assert orders == epochs(shuffle=True)
    assert len(set(map(tuple, orders))) == 3
    assert sorted(orders[0]) == Y.tolist()
    assert epochs(shuffle=False) == [Y.tolist()] * 3


def test_images_in_memory_are_read_once():
    images = DigitImages((28, 28, 1), number=3)
    kept = InMemory(images)
    assert (len(kept), kept.shape) == (3, (28, 28, 1))
    assert kept[2][0] is kept[2][0]
    np.testing.assert_array_equal(kept[2][0], images[2][0])
    assert kept[2][1] == images[2][1]
