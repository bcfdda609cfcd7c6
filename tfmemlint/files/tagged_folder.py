"""A folder in somebody's project that holds what we keep between runs, and how we know it for ours."""

from __future__ import annotations

import contextlib
import re
import stat

from tfmemlint.files.bounded_read import digest_of
from tfmemlint.files.own_folder import OwnFolder

FOLDER = ".tfmemlint_cache"
"""Its usual name."""
SECONDS_KEPT = 14 * 24 * 3600
TAG = "CACHEDIR.TAG"
OWN_NAME = re.compile(r"[0-9a-f]{32}\.bin")
TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by tfmemlint; see https://bford.info/cachedir/\n"


def is_ours(folder: OwnFolder) -> bool:
    """Whether a folder carries our mark, or else is empty. Raises OSError for one that others use."""
    with contextlib.suppress(OSError):
        if folder.read(TAG, len(TAG_TEXT)) == TAG_TEXT:
            return True
    if folder.names():
        raise FileExistsError(f"there are files in it, and no {TAG} of tfmemlint")
    return False


def mark(folder: OwnFolder) -> None:
    """Make an empty folder ours, and keep it out of git and of backups."""
    folder.create(TAG, TAG_TEXT)
    folder.create(".gitignore", b"# Made by tfmemlint.\n*\n")


def stamp(folder: OwnFolder) -> bytes:
    """What the files of a marked folder begin with when they were written on this machine, after its mark."""
    status = folder.status(TAG)
    return digest_of(f"{status.st_ino} {status.st_ctime_ns}".encode())


def forget(folder: OwnFolder, before: float) -> None:
    """Delete files of ours that no run has used for a while."""
    for name in folder.names():
        if OWN_NAME.fullmatch(name):
            status = folder.status(name)
            if stat.S_ISREG(status.st_mode) and status.st_mtime < before:
                folder.remove(name)
