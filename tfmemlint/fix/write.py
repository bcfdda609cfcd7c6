"""Replacing a file as a whole: at every moment it holds either the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path


class FileChangedError(OSError):
    """The file no longer holds the bytes that the new ones were made from, so it was left alone."""


def write_atomically(path: str | os.PathLike[str], old: bytes, new: bytes) -> None:
    """Replace the bytes `old` of a file by `new`, keeping its mode and, where allowed, its owner.

    A symbolic link stays, and the file it leads to is replaced. Raises FileChangedError when the file does not hold
    `old` any more, PermissionError when it is read-only, and OSError when its directory cannot be written.
    """
    real = Path(os.path.realpath(path))
    _require_unchanged(real, old)
    if not os.access(real, os.W_OK):
        raise PermissionError(f"{path} is read-only and was not changed")
    status = real.stat()
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".tfmemlint-tmp", dir=real.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        _keep_owner_and_mode(name, status)
        _require_unchanged(real, old)
        os.replace(name, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
    _sync_directory(real.parent)


def _require_unchanged(real: Path, old: bytes) -> None:
    if real.read_bytes() != old:
        raise FileChangedError(f"{real} changed while it was being checked; it was left as it is")


def _keep_owner_and_mode(name: str, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only the superuser may give files away
            os.chown(name, status.st_uid, status.st_gid)
    os.chmod(name, stat.S_IMODE(status.st_mode))


def _sync_directory(directory: Path) -> None:
    """Make the new name last through a power cut, on systems that can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
