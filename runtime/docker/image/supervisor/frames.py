"""The frames between the host and the supervisor.

A frame is a length of four bytes, big-endian, that counts what follows; one byte
for its kind; and a payload. The Go side is runtime/docker/internal/wire.
"""

import json
import os

VERSION = 1
MAX_FRAME = 1 << 20
PART = MAX_FRAME // 2

# From the host.
RUN, CODE, CANCEL, PING = b"R", b"C", b"X", b"P"
# To the host.
HELLO, STARTED, STDOUT, STDERR, VALUE, DONE, PONG = b"H", b"S", b"o", b"e", b"V", b"D", b"B"


class Host:
    """The host's end of the container's standard input and output.

    Writing waits for the host, which reads all the time; scripts never get these
    descriptors.
    """

    def __init__(self, source, sink):
        self.source, self._sink = source, sink
        self._buffer = bytearray()

    def receive(self):
        """Reads what has come and returns whole frames; None when the host is gone."""
        data = os.read(self.source, 1 << 18)
        if not data:
            return None
        self._buffer += data
        frames = []
        while len(self._buffer) >= 4:
            size = int.from_bytes(self._buffer[:4], "big")
            if not 0 < size <= MAX_FRAME:
                raise ValueError(f"the host sent a frame of {size} bytes")
            if len(self._buffer) < 4 + size:
                break
            frames.append((bytes(self._buffer[4:5]), bytes(self._buffer[5 : 4 + size])))
            del self._buffer[: 4 + size]
        return frames

    def send(self, kind, payload=b""):
        """Sends a frame."""
        data = memoryview(b"".join(((len(payload) + 1).to_bytes(4, "big"), kind, payload)))
        while data:
            data = data[os.write(self._sink, data) :]

    def send_json(self, kind, value):
        """Sends a frame of JSON."""
        self.send(kind, json.dumps(value).encode())

    def send_parts(self, kind, data):
        """Sends bytes in as many frames as they need."""
        for start in range(0, len(data), PART):
            self.send(kind, data[start : start + PART])
