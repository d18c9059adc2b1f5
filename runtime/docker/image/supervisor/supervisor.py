"""The supervisor: takes executions from the host, one at a time, and runs them."""

import json
import os
import selectors
import signal

from . import frames, guard, interpreters, scratch
from .execution import Execution
from .frames import Host
from .processes import Processes, kill, wait_ended

TICK = 0.02  # how often memory is looked at while a script runs
PAUSE = 0.05  # without work, after which more is made ready: the host comes first
NODES = 2  # that wait for a script: one takes longer to start than most scripts to run
FOLDER = os.environ.get("AIRLOCK_FOLDER", "/workspace")


class Supervisor:
    """All that runs in the container, and the loop over it."""

    def __init__(self, host):
        self.host, self.processes = host, Processes()
        self.selector = selectors.DefaultSelector()
        self.selector.register(host.source, selectors.EVENT_READ, ("host", None))
        self.plain = self.loaded = None
        self.nodes = []
        self.python = None  # a copy made ahead, and the server it is of
        self.execution = None
        self.code = []
        self.folders = scratch.writable() if os.getpid() == 1 else []

    def run(self):
        """Serves until the host is gone."""
        scratch.furnish()
        self.plain = interpreters.ForkServer(self.processes, preload=False)
        self._fork_ahead()
        self._start_node()
        languages = ["python", "bash"] + (["javascript", "typescript"] if self.nodes else [])
        self.host.send_json(frames.HELLO, {"version": frames.VERSION, "languages": languages})
        while self._step():
            pass

    def _step(self):
        timeout = TICK if self.execution else PAUSE if self._improvable() else None
        events = self.selector.select(timeout)
        for key, _ in events:
            kind, what = key.data
            if kind == "host":
                if not self._host():
                    return False
            elif kind == "loaded":
                self._loaded()
            elif self.execution and not self.execution.over:
                self._execution(kind, what, key.fileobj)
        if self.execution:
            self.execution.check_memory()
            if self.execution.over:
                self._finish()
        elif not events:
            self._improve()
        return True

    def _improvable(self):
        return self.loaded is None or self.loaded.ready and 0 < len(self.nodes) < NODES

    def _improve(self):
        """Makes one thing more ready, where there is time for it."""
        if self.loaded is None:
            self._load()
        elif self._improvable():
            self._start_node()

    def _start_node(self):
        node = interpreters.start_node(self.processes)
        if node is not None:
            self.nodes.append(node)

    def _host(self):
        received = self.host.receive()
        if received is None:
            return False
        for kind, payload in received:
            if kind == frames.CODE:
                self.code.append(payload)
            elif kind == frames.RUN:
                self._begin(json.loads(payload))
            elif kind == frames.CANCEL:
                self._cancel(json.loads(payload))
            elif kind == frames.PING:
                self.host.send(frames.PONG)
        return True

    def _cancel(self, order):
        if self.execution and self.execution.job["id"] == order["id"]:
            self.execution.end("cancelled")

    # Beginning

    def _begin(self, job):
        job["code"] = b"".join(self.code).decode(errors="replace") + (job.get("code") or "")
        self.code = []
        job["name"] = job.get("name") or "script"
        job["folder"] = FOLDER
        started, server = self._interpreter(job)
        if started is None:
            message = f"there is no interpreter for {job['language']}"
            self.host.send_json(frames.DONE, {
                "id": job["id"], "nonce": job["nonce"], "reason": "killed", "leftovers": True,
                "error": {"name": "Killed", "message": message}, "droppedOut": 0, "droppedErr": 0,
            })  # fmt: skip
            return
        self.execution = Execution(self.host, job, started, server, self._warm)
        self.host.send_json(frames.STARTED, {"id": job["id"]})
        self._watch()
        if job["language"] != "bash" and not interpreters.hand_over(started, job):
            self.execution.gone = True

    def _interpreter(self, job):
        if job["language"] == "bash":
            return interpreters.start_bash(self.processes, job["code"], job["name"]), None
        if job["language"] == "python":
            return self._python()
        while self.nodes:
            node = self.nodes.pop(0)
            if node.lives():
                return node, None
            interpreters.discard(self.processes, node)
        return interpreters.start_node(self.processes), None

    def _python(self):
        if self.python is not None and not self.python[0].lives():
            self._discard_ahead()
        self._fork_ahead()
        ahead, self.python = self.python, None
        return ahead or (None, None)

    def _fork(self):
        """Makes a copy of the best server that answers."""
        for server in (self.loaded, self.plain):
            if server is not None and server.ready and (started := server.start()):
                self.processes.watch_group(started.pid)
                return started, server
        return None

    def _fork_ahead(self):
        """Makes the copy that the next Python script gets, from the best server."""
        if self.python is None:
            self.python = self._fork()

    def _discard_ahead(self):
        (started, server), self.python = self.python, None
        started.kill()
        started.close()
        server.status(started.pid)

    def _watch(self):
        started = self.execution.started
        for stream in self.execution.streams:
            self.selector.register(stream.fd, selectors.EVENT_READ, ("output", stream))
        self.selector.register(started.control, selectors.EVENT_READ, ("control", None))
        self.selector.register(started.pidfd, selectors.EVENT_READ, ("ended", None))

    # Running

    def _execution(self, kind, what, fileobj):
        if kind == "output":
            self.execution.read_output(what)
            more = what.open
        elif kind == "control":
            more = self.execution.read_control()
        else:
            self._ended()
            more = False
        if not more:
            self.selector.unregister(fileobj)

    def _ended(self):
        """The interpreter has ended; what it said before may still be unread."""
        execution = self.execution
        if execution.language != "bash":
            while not execution.over and execution.read_control() and _readable(execution.started.control):
                pass
        execution.gone = True

    def _status(self):
        """How the interpreter ended; fork servers know it of those they made."""
        execution = self.execution
        pid, server = execution.started.pid, execution.server
        if server is None:
            return self.processes.status(pid)
        status = server.status(pid)
        if status is None:  # the server was killed: its children became ours
            self._forget(server)
            status = self.processes.status(pid)
        return status

    # Ending

    def _finish(self):
        execution, started = self.execution, self.execution.started
        execution.stop()
        gone = wait_ended(started.pidfd, 5.0)
        warm = self._warm()
        clean = self.processes.sweep(warm) and gone
        for pid in warm:  # nobody is left who could stop them again
            kill(pid, signal.SIGCONT)
        execution.drain()
        if execution.reason is None:
            execution.interpreter_ended(self._status() if gone else None)
        for fd in (started.out, started.err, started.control, started.pidfd):
            try:
                self.selector.unregister(fd)
            except KeyError:
                pass
        clean = scratch.empty(self.folders) and clean
        scratch.furnish()
        started.close()
        self.execution = None
        execution.report(not clean)
        if execution.server is not None:
            execution.server.status(started.pid)
        self._prepare()

    def _warm(self):
        """The processes that outlive executions."""
        ahead = self.python[0] if self.python else None
        return {one.pid for one in (self.plain, self.loaded, ahead, *self.nodes) if one is not None}

    def _prepare(self):
        """Makes what the next execution needs, and replaces what this one spoilt."""
        self.processes.forget()
        for server in (self.plain, self.loaded):
            if server is not None and not server.healthy():
                self._forget(server)
        if self.plain is None:
            self.plain = interpreters.ForkServer(self.processes, preload=False)
        for waiting in self.nodes + ([self.python[0]] if self.python else []):
            waiting.ask()
        self._fork_ahead()
        if not self.nodes:
            self._start_node()

    def _load(self):
        self.loaded = interpreters.ForkServer(self.processes, preload=True)
        self.selector.register(self.loaded, selectors.EVENT_READ, ("loaded", None))

    def _loaded(self):
        self.selector.unregister(self.loaded)
        if not self.loaded.loaded():
            self._forget(self.loaded)
        elif self.python is not None:  # the next script shall have the libraries
            self._discard_ahead()
            self._fork_ahead()

    def _forget(self, server):
        if server is self.plain:
            self.plain = None
        elif server is self.loaded:
            self.loaded = None
        else:
            return  # that was done before
        try:
            self.selector.unregister(server)
        except (KeyError, ValueError):
            pass
        server.close()


def _readable(connection):
    with selectors.PollSelector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        return bool(selector.select(0))


def main():
    """Takes the host's descriptors away from 0 and 1, and serves."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    guard.hide()
    Supervisor(Host(source, sink)).run()
