"""Data sets: checked downloads, also two at once; images, minibatches and sums over them."""

import gzip
import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from time import perf_counter
from urllib.parse import urljoin

import numpy as np
import pytest

from d2l_lab.instruments import data
from d2l_lab.instruments.data import DigitImages, Minibatches, digits, download, fashion_mnist, resized

CONTENT = bytes(range(256)) * 1000
MD5 = hashlib.md5(CONTENT).hexdigest()
X, Y = np.arange(20).reshape(10, 2), np.arange(10)


class Handler(SimpleHTTPRequestHandler):
    """Waits at the server's gate after the first bytes of a file; where there is no gate, hangs up there."""

    def copyfile(self, source, outputfile):
        outputfile.write(source.read(1000))
        if self.server.gate:
            self.server.gate.wait(timeout=10)
            super().copyfile(source, outputfile)

    def log_message(self, *_):
        self.server.requests.append(self.path)


@pytest.fixture
def server(tmp_path_factory, monkeypatch):
    """A server on 127.0.0.1 with one file, and for all else a proxy that does not answer."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    folder = tmp_path_factory.mktemp("served")
    handler = partial(Handler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, ThreadPoolExecutor(1) as thread:
        server.folder, server.requests, server.gate = folder, [], threading.Barrier(1)
        server.url = f"http://127.0.0.1:{server.server_port}/file"
        (folder / "file").write_bytes(CONTENT)
        thread.submit(server.serve_forever, 0.01)
        yield server
        server.shutdown()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_downloaded_once_into_a_new_folder_and_replaced_if_its_checksum_is_wrong(server, tmp_path):
    folder = tmp_path / "new" / "cache"
    path = download(server.url, MD5, folder)
    assert path.read_bytes() == CONTENT
    assert download(server.url, MD5, folder) == path
    assert server.requests == ["/file"]
    path.write_bytes(b"something else")
    assert download(server.url, MD5, folder).read_bytes() == CONTENT
    assert names(folder) == ["file"]


def test_two_downloads_at_once_both_get_the_whole_file(server, tmp_path):
    server.gate = threading.Barrier(2)  # neither gets its last byte before both have their first
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(download, server.url, MD5, tmp_path) for _ in range(2)]
        assert [call.result().read_bytes() == CONTENT for call in calls] == [True, True]
    assert server.requests == ["/file", "/file"]
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("address", "gate", "md5", "cause"),
    [
        ("file", None, MD5, "1000 bytes read"),
        ("file", threading.Barrier(1), "0" * 32, "hash of downloaded file"),
        ("missing", None, MD5, "404"),
        ("http://127.0.0.1:1/file", None, MD5, "refused"),
    ],
)
def test_a_failed_download_leaves_no_file_and_says_cause_and_cure(address, gate, md5, cause, server, tmp_path):
    server.gate = gate
    url = urljoin(server.url, address)
    message = rf"(?s)cannot download {url} \(.*{cause}.*\): put the file (file|missing) into .*, eat an apple"
    with pytest.raises(RuntimeError, match=message):
        download(url, md5, tmp_path, cure="eat an apple")
    assert names(tmp_path) == []


def packed(array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return gzip.compress(header + array.astype("uint8").tobytes())


def test_fashion_mnist_is_read_from_its_four_files_or_names_the_digits(server, monkeypatch, tmp_path):
    images = np.random.RandomState(0).randint(0, 256, (7, 28, 28))
    files = dict(zip(data.FILES, map(packed, (images[:5], Y[:5], images[5:], Y[:2])), strict=True))
    for name, content in files.items():
        (server.folder / name).write_bytes(content)
    monkeypatch.setattr(data, "FILES", {name: hashlib.md5(content).hexdigest() for name, content in files.items()})
    monkeypatch.setattr(data, "FASHION_MNIST", server.url.removesuffix("file"))
    monkeypatch.setenv("D2L_DATA", str(tmp_path / "kept"))
    found = fashion_mnist()
    np.testing.assert_allclose(np.concatenate(found[::2]), images / 255, rtol=1e-6)
    assert [part.tolist() for part in found[1::2]] == [[0, 1, 2, 3, 4], [0, 1]]
    assert [part.dtype for part in found] == ["float32", "int64"] * 2
    assert names(tmp_path / "kept") == sorted(data.FILES)
    assert fashion_mnist(resize=14)[0].shape == (5, 14, 14)
    (server.folder / "train-images-idx3-ubyte.gz").unlink()
    monkeypatch.setenv("D2L_DATA", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"put the file train-images.* or use d2l.load_data_digits"):
        fashion_mnist()


def test_resized_images_are_those_of_scipy():
    from scipy.ndimage import zoom

    images = np.random.RandomState(0).rand(3, 8, 8)
    for side in (5, 8, 28):
        np.testing.assert_allclose(resized(images, side), zoom(images, (1, side / 8, side / 8), order=1), atol=1e-6)
    assert resized(images, 28).dtype == "float32"


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
