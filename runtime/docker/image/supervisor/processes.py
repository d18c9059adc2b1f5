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

    def sweep(self, keep, patience=2.0):
        """Ends every process that is not in keep; False if one remains.

        keep is changed: when processes multiply faster than they can be killed one
        by one, everything is killed at once, and nothing is kept.
        """
        limit, rounds = time.monotonic() + patience, 0
        while True:
            self.reap()
            found = self._others(keep)
            if not found:
                self._statuses.clear()
                return True
            if time.monotonic() > limit:
                return False
            if rounds >= 20 and self._sole:
                keep.clear()
                kill(-1)
            for pid in found:
                kill(pid)
            rounds += 1
            if rounds > 1:
                time.sleep(0.0005)

    def _others(self, keep):
        mine = os.getpid()
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == mine or int(name) in keep:
                continue
            if self._sole or self._in_groups(int(name)):
                found.append(int(name))
        if not self._sole:
            self._groups &= {pid for pid in keep} | set(found)
        return found

    def _in_groups(self, pid):
        try:
            return os.getpgid(pid) in self._groups and state(pid) not in ("Z", "")
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


def state(pid):
    """Returns the state letter of a process ("T" when stopped), "" if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode()
    except (OSError, IndexError):
        return ""


def wait_ended(pidfd, patience):
    """Waits for a process to end; False if it does not in time."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(patience * 1000))
