"""Reading files that somebody else wrote: regular files only, and no more of them than a limit.

A repository may bring a named pipe that never speaks, a link to `/dev/zero` or a sparse file of a terabyte. None of
them may make the tool wait or take the machine's memory.
"""

from __future__ import annotations

import errno
import os
import stat

SOURCES = 256 << 20
"""Bytes of a program, a notebook with its outputs, or a document."""
PATTERNS = 4 << 20
"""Bytes of a `.gitignore`."""

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
_FLAGS |= getattr(os, "O_NONBLOCK", 0)  # a pipe that takes the file's place must not make the opening wait
_STEP = 1 << 20
_KINDS = (
    (stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"), (stat.S_ISLNK, "a link"),
)  # fmt: skip


def read_regular(path: str | os.PathLike[str], limit: int = SOURCES) -> bytes:
    """The bytes of a regular file, links followed.

    Raises OSError, with a `strerror` that says why, for a file that is missing or may not be read, that is no regular
    file, or that holds more than `limit` bytes.
    """
    try:
        # Asked before it is opened: the opening alone of some devices does something.
        require_regular(os.stat(path), path)
        handle = os.open(path, _FLAGS)
    except ValueError:
        raise OSError(errno.EINVAL, "a NUL character is in the path", path) from None
    try:
        return read_handle(handle, path, limit)
    finally:
        os.close(handle)


def digest_of(data: bytes) -> bytes:
    """A hash of a file's bytes, by which results say what they rest on."""
    import hashlib  # with OpenSSL: files without TensorFlow are done before it is loaded

    return hashlib.blake2b(data, digest_size=16).digest()


def read_handle(handle: int, path: str | os.PathLike[str], limit: int) -> bytes:
    """The bytes of the regular file that is open as `handle`; raises OSError as `read_regular` does."""
    status = os.fstat(handle)
    require_regular(status, path)
    if status.st_size > limit:
        raise _too_large(path, limit)
    parts = []
    left = limit + 1  # the file may have grown, and those of /proc say that they are empty
    while left and (part := os.read(handle, min(left, max(status.st_size + 1, _STEP)))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise _too_large(path, limit)
    return b"".join(parts)


def require_regular(status: os.stat_result, path: str | os.PathLike[str]) -> None:
    """Raises OSError for a status that is not a regular file's."""
    if not stat.S_ISREG(status.st_mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(status.st_mode)), "something else")
        number = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise OSError(number, f"it is {kind}, not a regular file", path)


def _too_large(path: str | os.PathLike[str], limit: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {limit >> 20} MiB", path)
