"""One execution: a script's interpreter, what it prints, and how it ends."""

import os
import signal
import time

from . import control, frames, interpreters, memory
from .control import Malformed

CHUNK = 1 << 16


class Stream:
    """One of the outputs: how much of it is kept and how much was dropped."""

    def __init__(self, fd, kind, room):
        self.fd, self.kind, self.room = fd, kind, room
        self.dropped, self.open = 0, True


class Execution:
    """The state of the execution that runs. Errors are dicts as in the protocol."""

    def __init__(self, host, job, started, server, warm):
        self.host, self.job, self.started, self.server, self._warm = host, job, started, server, warm
        self.language, self.limits = job["language"], job["limits"]
        self.nonce = job["nonce"]
        room = self.limits["outputBytes"]
        self.streams = [Stream(started.out, frames.STDOUT, room), Stream(started.err, frames.STDERR, room)]
        self.printed = 0
        self.reason = self.error = self.value = None
        self.gone = False  # the interpreter has ended
        self._reader = control.ResultReader(self.limits["resultBytes"])
        self._kills = memory.kills()
        self._held = memory.held(started.pid, warm())
        self._tail = b""

    @property
    def over(self):
        """Tells whether nothing more is to be waited for."""
        return self.gone or self.reason is not None

    def end(self, reason, error=None, value=None):
        """Decides how the execution ends; the first to decide is right."""
        if self.reason is None:
            self.reason, self.error, self.value = reason, error, value

    def read_output(self, stream):
        """Forwards what one of the outputs has; False when there is nothing now."""
        try:
            data = os.read(stream.fd, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            stream.open = False
            return False
        kept = data[: stream.room]
        if kept:
            stream.room -= len(kept)
            self.host.send(stream.kind, kept)
        stream.dropped += len(data) - len(kept)
        self.printed += len(data)
        if stream.kind == frames.STDERR:
            self._tail = (self._tail + data)[-4096:]
        if self.printed > self.limits["outputKillBytes"]:
            self.end("output")
        return True

    def read_control(self):
        """Reads what the interpreter says; False when it will say no more."""
        if self.language == "bash":
            return interpreters.answer_commands(self.started.control, self.job)
        try:
            data = self.started.control.recv(1 << 20)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            return False
        try:
            result = self._reader.feed(data)
        except Malformed:
            self.end("error", _error("Error", "the interpreter reported a result that cannot be read"))
            return False
        if result is not None:
            self._take(*result)
        return result is None

    def _take(self, head, value):
        if head.get("nonce") != self.nonce:
            self.end("error", _error("Error", "the interpreter reported the result of something else"))
        elif head.get("end") == "ok":
            self.end("ok", value=value)
        elif head.get("end") == "memory":
            self.end("memory")
        else:
            self.end("error", _clean(head.get("error")))

    def check_memory(self):
        """Ends the execution when it holds more than it may."""
        limit = self.limits["memoryBytes"]
        if limit > 0 and memory.held(self.started.pid, self._warm()) - self._held > limit:
            self.end("memory")

    def interpreter_ended(self, status):
        """Decides by how the interpreter ended, when it reported nothing."""
        if self.reason is not None:
            return
        status = 0 if status is None else status
        if memory.kills() > self._kills and status != 0:
            self.end("memory")
        elif status == -signal.SIGABRT and b"heap out of memory" in self._tail:
            self.end("memory")
        elif self.language == "bash":
            self._bash_ended(status)
        elif status < 0:
            self.end("killed", _error("Killed", f"the interpreter was ended by signal {-status} ({_signal(-status)})"))
        else:
            message = f"the interpreter ended with exit code {status} before the script did"
            self.end("error", _error("Exit", message, "let the script end by itself"))

    def _bash_ended(self, status):
        if status == 0:
            self.end("ok")
        elif status < 0:
            self.end("killed", _error("Killed", f"bash was ended by signal {-status} ({_signal(-status)})"))
        else:
            error = _error("ExitError", f"the script ended with exit code {status}")
            error["line"] = _bash_line(self._tail, self.job["name"])
            self.end("error", error)

    def stop(self):
        """Ends the interpreter; the sweep gets what is left."""
        self.started.kill()

    def drain(self, patience=1.0):
        """Reads the rest of the outputs, after every writer has ended."""
        limit = time.monotonic() + patience
        for stream in self.streams:
            while stream.open and time.monotonic() < limit and self.read_output(stream):
                pass

    def report(self, leftovers):
        """Tells the host how it ended."""
        if self.value is not None and self.reason == "ok":
            self.host.send_parts(frames.VALUE, self.value)
        self.host.send_json(frames.DONE, {
            "id": self.job["id"], "nonce": self.nonce, "reason": self.reason, "error": self.error,
            "droppedOut": self.streams[0].dropped, "droppedErr": self.streams[1].dropped, "leftovers": leftovers,
        })  # fmt: skip


def _error(name, message, hint=""):
    return {"name": name, "message": message, "line": 0, "column": 0, "stack": "", "code": "", "hint": hint, "tool": ""}


_TEXTS = {"name": 200, "message": 1 << 16, "stack": 1 << 14, "code": 200, "hint": 1000, "tool": 300}


def _clean(error):
    """Takes from what an interpreter says only what an error can have."""
    error = error if isinstance(error, dict) else {}
    clean = {key: error[key][:size] if isinstance(error.get(key), str) else "" for key, size in _TEXTS.items()}
    for key in ("line", "column"):
        number = error.get(key)
        clean[key] = number if isinstance(number, int) and 0 <= number < 1 << 31 else 0
    return clean


def _signal(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _bash_line(tail, name):
    """Finds the line of bash's last complaint, such as "script: line 3: nope: command not found"."""
    line = 0
    start = f"{name}: line ".encode()
    for text in tail.splitlines():
        if text.startswith(start):
            number = text[len(start) :].split(b":")[0]
            line = int(number) if number.isdigit() and len(number) < 9 else line
    return line
