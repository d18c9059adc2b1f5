"""Emptying the folders that scripts share with nobody and leave things in."""

import os
import time

FOLDERS = ("/tmp", "/dev/shm", "/dev/mqueue", "/var/tmp")
FONTS = "/opt/airlock/matplotlib"


def writable():
    """Returns the scratch folders that exist and can be written to."""
    return [path for path in FOLDERS if os.path.isdir(path) and os.access(path, os.W_OK)]


def empty(folders, patience=2.0):
    """Removes everything in the folders; False when it takes too long or fails.

    A script may nest folders deeper than any path may be long, so folders are
    moved to the top before what is in them is removed.
    """
    limit = time.monotonic() + patience
    return all([_empty(folder, limit) for folder in folders])


def _empty(top, limit):
    moved = 0
    while True:
        with os.scandir(top) as entries:
            found = list(entries)
        if not found:
            return True
        for entry in found:
            try:
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                else:
                    moved = _flatten(top, entry.path, moved, limit)
            except OSError:
                return False
            if time.monotonic() > limit:
                return False


def _flatten(top, folder, moved, limit):
    """Removes a folder after moving the folders in it to the top."""
    os.chmod(folder, 0o700)
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.path, 0o700)
                moved += 1
                os.rename(entry.path, os.path.join(top, f".airlock-{os.getpid()}-{moved}"))
            else:
                os.unlink(entry.path)
            if time.monotonic() > limit:
                raise TimeoutError
    os.rmdir(folder)
    return moved


def furnish():
    """Gives Matplotlib, which wants a folder to write to, its list of fonts."""
    cache = os.environ.get("MPLCONFIGDIR")
    if not cache or not os.path.isdir(FONTS):
        return
    try:
        os.mkdir(cache, 0o700)
        for name in os.listdir(FONTS):
            os.symlink(os.path.join(FONTS, name), os.path.join(cache, name))
    except OSError:
        pass  # then it makes its own list, a second later
