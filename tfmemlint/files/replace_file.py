"""Replacing a file as a whole: at every moment its name has either the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable


def replace_file(path: str, data: bytes, before: Callable[[], None] = lambda: None) -> None:
    """Put a file with these bytes at a path, with the mode, the extended attributes (access control lists among them)
    and, where allowed, the owner of the file that was there.

    `before` is called last before the old file goes, and stops it by raising. What stands at the path is replaced even
    if it is a link. Raises OSError when the file cannot be written; then the old one is as it was.
    """
    folder = os.path.dirname(os.path.abspath(path))
    status = os.lstat(path) if os.path.lexists(path) else None
    # A short name: that of the file may be as long as names can be.
    handle, temporary = tempfile.mkstemp(prefix=".tfmemlint-", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if status is None:
            os.chmod(temporary, 0o666 & ~_mask())
        else:
            _keep_owner_and_mode(temporary, status)
            _keep_attributes(path, temporary)
        before()
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(folder)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _keep_owner_and_mode(temporary: str, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only the superuser may give files away
            os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))


def _keep_attributes(path: str, temporary: str) -> None:
    """Copy the extended attributes, where Python can (Linux). Raises OSError for one of the user's that is refused;
    those of the system's own modules are set anew by these modules."""
    if not hasattr(os, "listxattr"):
        return
    try:
        names, inherited = os.listxattr(path), os.listxattr(temporary)
    except OSError:  # a file system that has none
        return
    for name in {*names, *inherited}:
        try:
            if name in names:
                os.setxattr(temporary, name, os.getxattr(path, name))
            else:  # an access control list that the folder gives to new files
                os.removexattr(temporary, name)
        except OSError:
            if not name.startswith(("security.", "trusted.")):
                raise


def _sync_directory(directory: str) -> None:
    """Make the new name last through a power cut, on systems that can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
