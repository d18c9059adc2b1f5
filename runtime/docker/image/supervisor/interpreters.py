"""Interpreters that are ready before a script comes, one kind for each language."""

import fcntl
import json
import os
import select
import signal
import socket

from . import control, fork_server, guard

NODE = "/usr/bin/node"
NODE_DRIVER = "/opt/airlock/node/main.js"
BASH = "/bin/bash"
BASH_FD = 63  # where the mcp command finds the supervisor
PATIENCE = 5.0


class Started:
    """An interpreter that runs, or waits for, one script."""

    def __init__(self, pid, out, err, connection):
        self.pid, self.out, self.err, self.control = pid, out, err, connection
        self.pidfd = os.pidfd_open(pid)
        self._asked = 0

    def ask(self):
        """Asks whether the interpreter, which waits for a script, still lives."""
        self._hear(socket.MSG_DONTWAIT)  # or answers would fill the socket some day
        self._asked += 1
        try:
            self.control.send(control.QUESTION, socket.MSG_DONTWAIT)
        except OSError:
            pass  # it does not

    def lives(self):
        """Waits for the answers to all that was asked; False if they do not come.

        No look from outside tells as much: of a process that was sent a signal but
        not yet the processor all is as before.
        """
        self.control.settimeout(PATIENCE)
        self._hear(0)
        return self._asked == 0

    def _hear(self, flags):
        try:
            while self._asked > 0 and self.control.recv(1, flags) == control.ALIVE:
                self._asked -= 1
        except OSError:
            pass  # it has not answered

    def kill(self):
        """Ends the interpreter, and nobody who got its number after it."""
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self):
        """Gives back the descriptors."""
        for fd in (self.out, self.err, self.pidfd):
            os.close(fd)
        self.control.close()


class Ends:
    """The two outputs and the control socket, seen from both sides."""

    def __init__(self, kind=socket.SOCK_STREAM):
        self.out, self.out_inner = os.pipe2(os.O_CLOEXEC)
        self.err, self.err_inner = os.pipe2(os.O_CLOEXEC)
        self.control, self.control_inner = socket.socketpair(socket.AF_UNIX, kind)

    def started(self, pid):
        """Keeps our side only, for an interpreter that has the other."""
        started = Started(pid, self.out, self.err, self.control)
        self._close_inner()
        for fd in (self.out, self.err):
            os.set_blocking(fd, False)
        return started

    def abandon(self):
        """Closes everything, when no interpreter came to be."""
        self._close_inner()
        os.close(self.out)
        os.close(self.err)
        self.control.close()

    def _close_inner(self):
        os.close(self.out_inner)
        os.close(self.err_inner)
        self.control_inner.close()


class ForkServer:
    """A warm Python that copies of itself are made of."""

    def __init__(self, processes, preload):
        self._processes, self.ready = processes, not preload
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            _alone({theirs.fileno()})
            fork_server.serve(theirs, preload)
        theirs.close()
        ours.settimeout(PATIENCE)
        self._socket = ours

    def fileno(self):
        """Is readable when loading has ended."""
        return self._socket.fileno()

    def loaded(self):
        """Takes the word that everything is loaded; False when the server has died."""
        try:
            self.ready = self._socket.recv(64) == b"R"
        except OSError:
            self.ready = False
        return self.ready

    def healthy(self):
        """Tells whether the server answers; one that still loads is not asked."""
        return not self.ready or self._ask(b"P") == b"P"

    def start(self):
        """Forks an interpreter; None when the server does not answer."""
        ends = Ends()
        inner = [ends.out_inner, ends.err_inner, ends.control_inner.fileno()]
        pid = self._ask(b"F", inner)
        try:
            return ends.started(int(pid))
        except (ValueError, ProcessLookupError):
            ends.abandon()
            return None

    def status(self, pid):
        """Returns how an interpreter, which has ended, ended; None if unknown."""
        answer = self._ask(b"W%d" % pid)
        return int(answer) if answer else None

    def _ask(self, message, fds=()):
        try:
            socket.send_fds(self._socket, [message], fds)
            return self._socket.recv(64)
        except OSError:
            self._socket.close()  # a late answer would be taken for that to the next question
            return b""

    def close(self):
        """Ends the server."""
        self._socket.close()
        self._processes.end(self.pid)


def start_node(processes):
    """Starts a Node that waits for a script; None when there is no Node."""
    if not os.path.exists(NODE) or not os.path.exists(NODE_DRIVER):
        return None
    command = [NODE, "--experimental-vm-modules", "--no-warnings", NODE_DRIVER]
    return _start_program(processes, command, dict(os.environ), 3)


def start_bash(processes, code, name):
    """Starts a bash that runs a script at once."""
    environment = dict(os.environ, AIRLOCK_MCP_FD=str(BASH_FD))
    if len(code.encode(errors="replace")) < 100_000:
        command = [BASH, "--noprofile", "--norc", "-c", code, name]
        return _start_program(processes, command, environment, BASH_FD, socket.SOCK_SEQPACKET)
    text = os.memfd_create("script", 0)
    os.write(text, code.encode(errors="replace"))
    os.lseek(text, 0, os.SEEK_SET)
    command = [BASH, "--noprofile", "--norc", "-c", 'eval "$(</dev/fd/62)"', name]
    try:
        return _start_program(processes, command, environment, BASH_FD, socket.SOCK_SEQPACKET, {62: text})
    finally:
        os.close(text)


def _start_program(processes, command, environment, control_fd, kind=socket.SOCK_STREAM, more=None):
    ends = Ends(kind)
    pid = os.fork()
    if pid == 0:
        try:
            _execute(command, environment, {1: ends.out_inner, 2: ends.err_inner, control_fd: ends.control_inner.fileno(), **(more or {})})
        finally:
            os._exit(127)
    processes.watch_group(pid)
    return ends.started(pid)


def _execute(command, environment, descriptors):
    os.setsid()
    high = {target: _lifted(fd) for target, fd in descriptors.items()}
    for target, fd in high.items():
        os.dup2(fd, target, inheritable=True)
    guard.close_all_but(set(descriptors))
    guard.offer_to_killer()
    try:
        os.chdir(environment.get("AIRLOCK_FOLDER", "/workspace"))
    except OSError:
        pass  # a script took its rights away; the host gives them back, and we stand in it already
    os.execve(command[0], command, environment)


def _lifted(fd):
    """Copies a descriptor to where no target can overwrite it."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)


def _alone(keep):
    """Makes a forked copy of the supervisor forget what is the supervisor's."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    guard.close_all_but(keep)


def answer_commands(connection, job):
    """Tells the mcp commands of a bash script, which ask for it, the way to the bridge.

    Every answer is the same, so it does not matter which command gets which.
    """
    answer = json.dumps({"socket": job["socket"], "token": job["token"]}).encode()
    while select.select([connection], [], [], 0)[0]:
        try:
            if not connection.recv(16):
                return False
            connection.send(answer, socket.MSG_DONTWAIT)
        except OSError:
            return False
    return True


def hand_over(started, job):
    """Gives a waiting interpreter its script; False when it is gone."""
    started.control.settimeout(PATIENCE)
    try:
        control.send_job(started.control, job)
    except OSError:
        return False
    started.control.setblocking(False)
    return True


def discard(processes, started):
    """Ends an interpreter that is not needed."""
    started.kill()
    processes.end(started.pid)
    started.close()
