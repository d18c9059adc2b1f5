"""Python interpreters by fork: each script gets a copy of one that has begun.

The server's socket carries short messages, each answered by one:

    F + descriptors of stdout, stderr, control  →  the pid of the new interpreter
    W + pid                                      →  how that one ended
    P                                            →  P

The new interpreter finds its job on its control socket, so that the server never
sees a script or a token.
"""

import gc
import os
import random
import resource
import signal
import socket
import sys

from airlock import install
from airlock.script import run

from . import control, guard

PRELOAD = ("numpy", "pandas", "matplotlib.pyplot")


def serve(connection, preload):
    """Serves until the supervisor closes its end."""
    if preload:
        for name in PRELOAD:
            try:
                __import__(name)
            except Exception:  # not installed: then scripts are told so
                pass
        connection.send(b"R")
    gc.collect()
    gc.freeze()  # so that collecting in a copy does not touch, and copy, our pages
    while True:
        message, fds, _, _ = socket.recv_fds(connection, 64, 3)
        if not message:
            os._exit(0)
        if message[:1] == b"F":
            pid = os.fork()
            if pid == 0:
                become_script(connection, fds)
            for fd in fds:
                os.close(fd)
            connection.send(b"%d" % pid)
        elif message[:1] == b"W":
            connection.send(b"%d" % _status(int(message[1:])))
        else:
            connection.send(b"P")


def _status(pid):
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return 0


def become_script(server, fds):
    """Turns this copy into the interpreter of one script, and ends with it."""
    server.close()
    os.setsid()
    for fd, target in zip(fds, (1, 2)):
        os.dup2(fd, target)
    connection = socket.socket(fileno=os.dup(fds[2]))
    guard.close_all_but({connection.fileno()})
    guard.offer_to_killer()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)
    _reseed()
    end = _run(control.receive_job(connection))
    _flush()
    control.send_result(connection, *end)
    os._exit(0)


def _run(job):
    _limit_memory(job["limits"]["memoryBytes"])
    os.chdir(job["folder"])
    sys.argv, sys.path[:] = [job["name"]], _path()
    install(job["socket"], job["token"])
    code, name, nonce, size = job["code"], job["name"], job["nonce"], job["limits"]["resultBytes"]
    job.clear()
    end, value, error = run(code, name, size)
    return nonce, end, value, error


def _path():
    """Where imports are looked for: the script's folders last, so that a file called
    random.py in /workspace breaks nothing."""
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [path for path in sys.path if not path.startswith((ours, "/opt/airlock"))] + ["/workspace", "/skills", "/tools"]


def _reseed():
    """What was seeded before the fork would be the same in every script."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()


def _limit_memory(size):
    """Lets allocations beyond the limit fail within the script, as a MemoryError."""
    with open("/proc/self/statm", "rb") as file:
        data = int(file.read().split()[5]) * resource.getpagesize()
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if size > 0 and (hard == resource.RLIM_INFINITY or data + size < hard):
        resource.setrlimit(resource.RLIMIT_DATA, (data + size, data + size))


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the script may have closed or replaced it
            pass
