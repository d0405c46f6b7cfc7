"""Data sets: downloads that break off, go on and are checked; images, minibatches and sums over them."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from d2l_utils import data
from d2l_utils.data import Accumulator, Minibatches, download, fashion_mnist
from d2l_utils.jobs.job import free_ports

CONTENT = bytes(range(256)) * 1000
MD5 = hashlib.md5(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves the server's `files`; knows ranges if `ranges`, and hangs up after `patience` bytes of a file."""

    def do_GET(self):
        content, asked = self.server.files.get(self.path), self.headers["Range"]
        self.server.requests.append(asked)
        if content is None:
            self.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and self.server.ranges else 0
        if start and start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start : start + self.server.patience])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    """A server on 127.0.0.1 with one file."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.files, server.requests, server.ranges, server.patience = {"/file": CONTENT}, [], True, 10**9
        server.url = f"http://127.0.0.1:{server.server_port}/file"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_downloaded_whole_with_one_line_of_progress_and_only_once(server, tmp_path, capsys):
    folder = tmp_path / "new" / "cache"
    path = download(server.url, MD5, folder)
    assert path.read_bytes() == CONTENT
    assert names(folder) == ["file"]
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("\rfile: ")
    assert said.err.endswith("\rfile: 100 % of 0.3 MB\n")
    assert said.err.count("\n") == 1
    assert download(server.url, MD5, folder) == path
    assert server.requests == [None]


def test_a_broken_transfer_leaves_no_whole_file_and_the_next_call_continues_it(server, tmp_path):
    server.patience = 100_000
    with pytest.raises(RuntimeError, match=r"ended after 100000 of 256000 bytes\): put the file file into"):
        download(server.url, MD5, tmp_path)
    assert names(tmp_path) == ["file.part"]
    server.patience = 10**9
    assert download(server.url, MD5, tmp_path).read_bytes() == CONTENT
    assert server.requests == [None, "bytes=100000-"]
    assert names(tmp_path) == ["file"]


def test_where_the_server_knows_no_ranges_the_transfer_starts_again(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT[:1000])
    server.ranges = False
    assert download(server.url, MD5, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("left", [CONTENT + b"x", b"y" * len(CONTENT)])
def test_a_part_that_the_server_cannot_continue_is_thrown_away(left, server, tmp_path):
    (tmp_path / "file.part").write_bytes(left)
    assert download(server.url, MD5, tmp_path).read_bytes() == CONTENT
    assert server.requests == [f"bytes={len(left)}-", None]


def test_a_whole_part_only_gets_its_name(server, tmp_path):
    (tmp_path / "file.part").write_bytes(CONTENT)
    assert download(server.url, MD5, tmp_path).read_bytes() == CONTENT
    assert server.requests == []


def test_a_wrong_checksum_is_an_error_and_leaves_nothing(server, tmp_path):
    with pytest.raises(RuntimeError, match=r"wrong MD5 sum and was removed: call again, or put the file file into"):
        download(server.url, "0" * 32, tmp_path)
    assert names(tmp_path) == []


def test_a_kept_file_with_a_wrong_checksum_is_replaced(server, tmp_path):
    (tmp_path / "file").write_bytes(b"something else")
    assert download(server.url, MD5, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize(("path", "cause"), [("file", "refused"), ("other", "404")])
def test_without_a_server_or_a_file_the_error_names_cause_and_cure(path, cause, server, tmp_path):
    url = server.url.replace("/file", f"/{path}")
    if cause == "refused":
        url = f"http://127.0.0.1:{free_ports(1)[0]}/file"
    with pytest.raises(RuntimeError, match=rf"cannot download {url} \(.*{cause}.*\): put the file {path} into .*, eat"):
        download(url, MD5, tmp_path, cure="eat an apple")


def packed(array):
    """Return an array of bytes as a packed IDX file."""
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return gzip.compress(header + array.astype("uint8").tobytes())


@pytest.fixture
def clothes(server, monkeypatch, tmp_path):
    """Fashion-MNIST with 5 and 2 images, served from here and kept in a folder of its own."""
    images = np.random.RandomState(0).randint(0, 256, (7, 28, 28))
    arrays = (images[:5], np.arange(5), images[5:], np.arange(2))
    server.files = {f"/{name}": packed(array) for name, array in zip(data.FILES, arrays, strict=True)}
    sums = {name[1:]: hashlib.md5(content).hexdigest() for name, content in server.files.items()}
    monkeypatch.setattr(data, "FILES", sums)
    monkeypatch.setattr(data, "FASHION_MNIST", server.url.removesuffix("file"))
    monkeypatch.setenv("D2L_DATA", str(tmp_path))
    return images


def test_fashion_mnist_is_read_from_its_four_files(clothes, tmp_path):
    X_train, y_train, X_test, y_test = fashion_mnist()
    np.testing.assert_allclose(np.concatenate([X_train, X_test]), clothes / 255, rtol=1e-6)
    assert [part.tolist() for part in (y_train, y_test)] == [[0, 1, 2, 3, 4], [0, 1]]
    assert [part.dtype for part in (X_train, y_train, X_test, y_test)] == ["float32", "int64"] * 2
    assert names(tmp_path) == sorted(data.FILES)
    assert fashion_mnist(resize=14)[0].shape == (5, 14, 14)


@pytest.mark.usefixtures("clothes")
def test_without_fashion_mnist_the_error_names_the_digits(server):
    server.files = {}
    with pytest.raises(RuntimeError, match=r"put the file train-images.* or use d2l.load_data_digits"):
        fashion_mnist()


X, Y = np.arange(20).reshape(10, 2), np.arange(10)


def test_minibatches_keep_pairs_together_and_the_last_small_one():
    batches = list(Minibatches(X, Y, 4, shuffle=True))
    assert [len(y) for _, y in batches] == [4, 4, 2]
    assert len(Minibatches(X, Y, 4, shuffle=True)) == 3
    assert all((x[:, 0] == 2 * y).all() for x, y in batches)
    assert sorted(np.concatenate([y for _, y in batches])) == Y.tolist()


def test_minibatches_have_a_new_order_every_epoch_and_the_same_ones_in_every_object():
    def epochs(shuffle):
        minibatches = Minibatches(X, Y, 10, shuffle)
        return [next(iter(minibatches))[1].tolist() for _ in range(3)]

    assert epochs(shuffle=False) == [Y.tolist()] * 3
    assert epochs(shuffle=True) == epochs(shuffle=True)
    assert len(set(map(tuple, epochs(shuffle=True)))) == 3


def test_minibatches_of_examples_and_labels_of_different_number_are_an_error():
    with pytest.raises(ValueError, match="10 examples have 9 labels"):
        Minibatches(X, Y[:9], 4, shuffle=True)


def test_an_accumulator_sums_each_quantity_until_it_is_reset():
    sums = Accumulator(2)
    sums.add(1, np.float32(2))
    sums.add(3, 4)
    assert (sums[0], sums[1], sums[-1]) == (4.0, 6.0, 6.0)
    sums.reset()
    assert (sums[0], sums[1]) == (0.0, 0.0)
    with pytest.raises(ValueError, match="shorter"):
        sums.add(1)
