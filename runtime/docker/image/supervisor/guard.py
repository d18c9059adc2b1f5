"""What keeps processes of one user apart: scripts run as the same user as we do."""

import ctypes
import os

PR_SET_DUMPABLE = 4

_libc = ctypes.CDLL(None, use_errno=True)


def hide():
    """Keeps this process and those it forks from being looked into.

    A process that is not dumpable cannot be traced, and its environment, memory and
    descriptors under /proc belong to root. Executing a program that its user may
    read undoes this.
    """
    if _libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "hide the process")


def offer_to_killer():
    """Makes this process the first to go when the container's memory is used up."""
    _libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # what is hidden may not write its own files under /proc
    try:
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
    except OSError:
        pass  # then the largest goes first, which mostly is the script, too
    hide()


def close_all_but(keep):
    """Closes every descriptor from 3 on that is not in keep."""
    start = 3
    for fd in sorted(keep):
        if fd >= start:
            os.closerange(start, fd)
            start = fd + 1
    os.closerange(start, 4096)
