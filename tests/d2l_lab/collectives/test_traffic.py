"""What a process counts of its own TCP connections."""

import socket
import sys
import time

import pytest
from launching import wait_until

from d2l_lab.collectives.traffic import Traffic

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the bytes of a connection")


def test_bytes_are_counted_from_the_start_of_the_object_and_for_each_connection():
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = [socket.create_connection(server.getsockname()) for _ in range(2)]
        far = [server.accept()[0] for _ in range(2)]
        near[0].sendall(bytes(500))
        assert far[0].recv(500, socket.MSG_WAITALL)
        time.sleep(0.1)  # until the acknowledgement has come
        traffic = Traffic()
        for sender, receiver, size in zip(near, far, (1000, 70_000), strict=True):
            sender.sendall(bytes(size))
            assert len(receiver.recv(size, socket.MSG_WAITALL)) == size
        wait_until(lambda: traffic.sent() == [70_000, 1000, 0, 0])
        for end in (*near, *far):
            end.close()
