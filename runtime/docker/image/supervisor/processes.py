"""Ending processes, and knowing how they ended."""

import os
import select
import signal
import time


class Processes:
    """The processes of the container, all of which end up as our children.

    Outside a container (in tests) only the process groups that we started count.
    """

    def __init__(self):
        self._statuses = {}
        self._sole = os.getpid() == 1
        self._groups = set()

    def watch_group(self, pid):
        """Remembers the group of a process that we started."""
        self._groups.add(pid)

    def reap(self):
        """Takes the statuses of ended children."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._statuses[pid] = os.waitstatus_to_exitcode(status)

    def status(self, pid):
        """Returns and forgets how a child ended: its exit code, or the signal below zero."""
        self.reap()
        return self._statuses.pop(pid, None)

    def forget(self):
        """Forgets how children ended that nobody asked about."""
        self.reap()
        self._statuses.clear()

    def end(self, pid, patience=1.0):
        """Kills a child and waits for it; False if it does not go."""
        kill(pid)
        limit = time.monotonic() + patience
        while time.monotonic() < limit:
            self.reap()
            if self._statuses.pop(pid, None) is not None or not exists(pid):
                return True
            time.sleep(0.0005)
        return False

    def sweep(self, keep, patience=5.0):
        """Ends every process that is not in keep; False if one remains.

        keep is changed: when processes multiply faster than they can be killed one
        by one, everything is killed at once, and nothing is kept.
        """
        limit, known, births = time.monotonic() + patience, None, 0
        while True:
            self.reap()
            found = self._others(keep)
            if not found:
                return True
            if time.monotonic() > limit:
                return False
            births += known is not None and not found <= known
            if births >= 5 and self._sole:
                keep.clear()
                kill(-1)
            for pid in found:
                kill(pid)
            if known is not None:
                time.sleep(0.0005)
            known = found

    def _others(self, keep):
        mine = os.getpid()
        found = set()
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == mine or int(name) in keep:
                continue
            if (self._sole or self._in_groups(int(name))) and not _awaited(int(name), keep):
                found.add(int(name))
        if not self._sole:
            self._groups &= keep | found
        return found

    def _in_groups(self, pid):
        try:
            return os.getpgid(pid) in self._groups
        except ProcessLookupError:
            return False


def kill(pid, number=signal.SIGKILL):
    """Sends a signal; that there is nobody left to get it is fine."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def exists(pid):
    """Tells whether there is such a process, even one that has ended."""
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False
    except PermissionError:
        return True


def _awaited(pid, parents):
    """Tells whether a process has ended and one of these will take its status; or is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except OSError:
        return True
    return state == b"Z" and int(parent) in parents


def wait_ended(pidfd, patience):
    """Waits for a process to end; False if it does not in time."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(patience * 1000))
