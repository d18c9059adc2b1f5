"""HTTP over the bridge's unix socket, as little of it as one server needs.

The standard library's client takes ten times as long for a small request, most
of it in parsing headers as mail.
"""

import os
import select
import socket
import threading

from .errors import BridgeError

MAX_ANSWER = 64 << 20
_CHUNK = 1 << 18


def connect_to(path, token):
    """Returns ask(method, target, body) -> (status, body), usable from any thread.

    The token is known to the returned function only. Connections are kept for the
    next request; a forked process starts with none.
    """
    head = (
        "Host: bridge\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: "
    ).encode("ascii")
    idle, lock = [], threading.Lock()
    os.register_at_fork(after_in_child=idle.clear)

    def ask(method, target, body=b""):
        connection = _take(idle, lock) or _open(path)
        request = b"".join((method.encode(), b" ", target.encode("ascii"), b" HTTP/1.1\r\n", head, b"%d\r\n\r\n" % len(body), body))
        owner, reusable = os.getpid(), False
        try:
            connection.sendall(request)
            status, answer, reusable = _Reader(connection).response()
        except OSError as error:
            raise BridgeError(f"the bridge broke off: {error.strerror or error}", "unavailable", "try again") from None
        finally:
            if reusable and owner == os.getpid():
                with lock:
                    idle.append(connection)
            else:
                connection.close()
        return status, answer

    return ask


def _open(path):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(path)
    except OSError as error:
        connection.close()
        hint = "run the script with a bridge to call tools"
        raise BridgeError(f"this sandbox has no bridge: {error.strerror}", "unavailable", hint) from None
    return connection


def _take(idle, lock):
    """Returns a kept connection that the server has not closed meanwhile."""
    while True:
        with lock:
            if not idle:
                return None
            connection = idle.pop()
        ready = select.poll()
        ready.register(connection, select.POLLIN | select.POLLHUP)
        if not ready.poll(0):
            return connection
        connection.close()


class _Reader:
    """Reads one response from a connection."""

    def __init__(self, connection):
        self.connection = connection
        self.buffer = bytearray()

    def response(self):
        status, headers = self._head()
        while 100 <= status < 200:
            status, headers = self._head()
        keep = headers.get("connection", "").lower() != "close"
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return status, self._chunked(), keep
        if "content-length" in headers:
            return status, self._exactly(int(headers["content-length"])), keep
        return status, self._rest(), False

    def _head(self):
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end >= 0:
                break
            if len(self.buffer) > 1 << 16:
                raise OSError("its answer has no end of headers")
            self._more()
        lines = bytes(self.buffer[:end]).decode("latin-1").split("\r\n")
        del self.buffer[: end + 4]
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        return int(lines[0].split(" ", 2)[1]), headers

    def _more(self):
        data = self.connection.recv(_CHUNK)
        if not data:
            raise OSError("it closed the connection")
        self.buffer += data

    def _exactly(self, size):
        if size > MAX_ANSWER:
            raise BridgeError("the answer is too large", "result_too_large", "ask for less, page by page")
        while len(self.buffer) < size:
            self._more()
        data = bytes(self.buffer[:size])
        del self.buffer[:size]
        return data

    def _line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self._more()
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 2]
        return line

    def _chunked(self):
        parts, total = [], 0
        while size := int(self._line().split(b";")[0], 16):
            total += size
            if total > MAX_ANSWER:
                raise BridgeError("the answer is too large", "result_too_large", "ask for less, page by page")
            parts.append(self._exactly(size))
            self._line()
        while self._line():
            pass  # trailers
        return b"".join(parts)

    def _rest(self):
        try:
            while len(self.buffer) <= MAX_ANSWER:
                self._more()
        except OSError:
            pass
        return bytes(self.buffer)
