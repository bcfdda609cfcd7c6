"""Writing a repaired file: as a whole, where it really lies, and only if nobody else has changed it."""

from __future__ import annotations

import os

from tfmemlint.files.bounded_read import read_regular
from tfmemlint.files.replace_file import replace_file


class FileChangedError(OSError):
    """The file no longer holds the bytes that the new ones were made from, so it was left alone."""


def write_atomically(path: str | os.PathLike[str], old: bytes, new: bytes) -> str:
    """Replace the bytes `old` of a file by `new`, keeping its mode, its extended attributes and, where allowed, its
    owner; a remark on what could not be kept, or an empty text.

    A symbolic link stays, and the file it leads to is replaced. Other names of the file (hard links) keep the old
    bytes: to write through them could leave half a file, and they may be somebody else's. Raises FileChangedError when
    the file does not hold `old` any more, PermissionError when it is read-only, and OSError when its directory cannot
    be written.
    """
    real = os.path.realpath(path)

    def require_unchanged() -> None:
        if read_regular(real) != old:
            raise FileChangedError(f"{real} changed while it was being checked; it was left as it is")

    require_unchanged()
    if not os.access(real, os.W_OK):
        raise PermissionError(f"{path} is read-only and was not changed")
    names = os.stat(real).st_nlink
    replace_file(real, new, require_unchanged)
    if names < 2:
        return ""
    return "the file had other names (hard links), and these keep what it was before"
