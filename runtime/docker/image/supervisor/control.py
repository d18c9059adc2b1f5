"""What an interpreter and the supervisor say to each other on the control socket.

Down goes the job: a length of four bytes and JSON. Up comes the result: a length
and JSON {nonce, end, error}, a length and the result's own JSON. Lengths are
big-endian; a length of 0xFFFFFFFF stands for no result. A length of zero in place
of a job asks whether the interpreter still lives, which it answers with one byte.
"""

import json

NO_VALUE = 0xFFFFFFFF
MAX_HEAD = 1 << 20
QUESTION, ALIVE = bytes(4), b"+"


def send_job(connection, job):
    """Hands a job to an interpreter."""
    data = json.dumps(job).encode()
    connection.sendall(len(data).to_bytes(4, "big") + data)


def receive_job(connection):
    """Waits for a job, and tells who asks meanwhile that it does."""
    while (size := int.from_bytes(_exactly(connection, 4), "big")) == 0:
        connection.sendall(ALIVE)
    return json.loads(_exactly(connection, size))


def send_result(connection, nonce, end, value, error):
    """Reports how a script ended."""
    head = json.dumps({"nonce": nonce, "end": end, "error": error}).encode()
    size = NO_VALUE if value is None else len(value)
    connection.sendall(b"".join((len(head).to_bytes(4, "big"), head, size.to_bytes(4, "big"), value or b"")))


def _exactly(connection, size):
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), 1 << 20))
        if not part:
            raise SystemExit(0)  # the supervisor does not need this interpreter
        data += part
    return bytes(data)


class Malformed(Exception):
    """What came up is no result."""


class ResultReader:
    """Gathers a result that comes in pieces; a script may send what it likes."""

    def __init__(self, limit):
        self._limit, self._buffer = limit, bytearray()

    def feed(self, data):
        """Returns (head, value) when complete, else None; raises Malformed."""
        self._buffer += data
        head_size = self._size(0)
        if head_size is None:
            return None
        if head_size > MAX_HEAD:
            raise Malformed
        value_size = self._size(4 + head_size)
        if value_size is None:
            return None
        start = 8 + head_size
        if value_size == NO_VALUE:
            return self._head(head_size), None
        if value_size > self._limit:
            raise Malformed
        if len(self._buffer) < start + value_size:
            return None
        return self._head(head_size), bytes(self._buffer[start : start + value_size])

    def _size(self, at):
        if len(self._buffer) < at + 4:
            return None
        return int.from_bytes(self._buffer[at : at + 4], "big")

    def _head(self, size):
        try:
            head = json.loads(self._buffer[4 : 4 + size])
        except (ValueError, RecursionError):
            raise Malformed from None
        if not isinstance(head, dict):
            raise Malformed
        return head
