"""How much memory the container's processes hold, from its control group."""

import os

_STATS = ("/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory/memory.stat")  # version 2, version 1
_EVENTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
# What cannot be had back by dropping caches: version 2 says anon, version 1 rss.
_HELD = (b"anon", b"rss", b"shmem")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def held(pid, others):
    """Returns the bytes that are held but for those of others, which may still be
    starting; or where there is no group those of one process."""
    stats = _read(_STATS)
    if stats is None:
        return _resident(pid)
    return sum(int(value) for name, value in _pairs(stats) if name in _HELD) - sum(map(_own, others))


def kills():
    """Returns how often the kernel killed a process for want of memory."""
    events = _read(_EVENTS)
    return 0 if events is None else sum(int(value) for name, value in _pairs(events) if name == b"oom_kill")


def _pairs(text):
    return [line.split(b" ", 1) for line in text.splitlines() if b" " in line]


def _resident(pid):
    return _pages(pid)[0] * _PAGE


def _own(pid):
    """What is not of files; a page that a fork shares counts for each who has it."""
    resident, files = _pages(pid)
    return (resident - files) * _PAGE


def _pages(pid):
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return tuple(map(int, file.read().split()[1:3]))
    except (OSError, ValueError):
        return 0, 0


def _read(paths):
    if os.getpid() != 1:
        return None  # not in a container of our own: a test
    for path in paths:
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError:
            continue
    return None
