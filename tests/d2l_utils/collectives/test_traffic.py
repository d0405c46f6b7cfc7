"""What a process counts of its own TCP connections."""

import socket
import sys
import time

import pytest

from d2l_utils.collectives.traffic import Traffic

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the bytes of a connection")


def pair(server):
    near = socket.create_connection(server.getsockname())
    return near, server.accept()[0]


def soon(condition):
    end = time.monotonic() + 5
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_bytes_are_counted_from_the_start_of_the_object_and_for_each_connection():
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = [*pair(server), *pair(server)]
        ends[0].sendall(bytes(500))
        assert ends[1].recv(500, socket.MSG_WAITALL)
        time.sleep(0.1)  # until the acknowledgement has come
        traffic = Traffic()
        for near, far, size in [(*ends[:2], 1000), (*ends[2:], 70_000)]:
            near.sendall(bytes(size))
            assert len(far.recv(size, socket.MSG_WAITALL)) == size
        assert soon(lambda: traffic.sent() == [70_000, 1000, 0, 0])
        assert traffic.received() == [70_000, 1000, 0, 0]
        for end in ends:
            end.close()


def test_files_and_sockets_that_listen_do_not_count(tmp_path):
    with socket.create_server(("127.0.0.1", 0)), open(tmp_path / "file", "wb") as file:
        file.write(bytes(1000))
        assert Traffic().sent() == []
