"""Which bytes files hold, where a run has read them or their status tells that they are those of an earlier run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from tfmemlint.files.bounded_read import digest_of, read_regular
from tfmemlint.files.unchanged import LENGTH, is_settled, signature, status_of

_UNSETTLED = bytes(LENGTH)
"""Stands where no signature can be trusted, and is none of any file."""
_PLAIN, _OTHER = b"p", b"o"
_FOLDS_CASE = sys.platform in ("win32", "darwin")
"""Whether a file may be there by a name that its folder does not list."""


class Seen:
    """The files of one cache, by their keys in it. `path_of` leads from a key to the file.

    What is kept of each is one text of bytes, as there are many files: its signature if that was settled, a letter that
    says whether it is *plain*, without a word of TensorFlow, and the digest of its bytes if anybody asked for that.
    """

    def __init__(self, path_of: Callable[[str], str]) -> None:
        self.kept: dict[str, bytes] = {}
        """What earlier runs knew."""
        self._path_of = path_of
        # Before any file is read: what changes later has a later time.
        self._began = time.time()
        self._status: dict[str, os.stat_result | None] = {}
        self._same: dict[str, bool] = {}
        self._digests: dict[str, bytes] = {}
        self._plain: set[str] = set()
        self._listed: dict[str, dict[str, bool] | None] = {}

    def look(self, key: str) -> bool:
        """Ask a file's status, once in a run and before it is read; whether its bytes are those of an earlier run."""
        found = self._same.get(key)
        if found is None:
            status = self._status[key] = status_of(self._path_of(key))
            kept = self.kept.get(key)
            found = status is not None and kept is not None and kept.startswith(signature(status))
            self._same[key] = found
        return found

    def is_plain(self, key: str) -> bool:
        """Whether a file, as it is now, is known to have no word of TensorFlow in it."""
        return self.look(key) and self.kept[key].startswith(_PLAIN, LENGTH)

    def digest(self, key: str) -> bytes:
        """The digest of a file's bytes; empty for one that cannot be read."""
        found = self._digests.get(key)
        if found is None:
            found = self.kept[key][LENGTH + 1 :] if self.look(key) else b""
            if not found:
                try:
                    found = digest_of(read_regular(self._path_of(key)))
                except OSError:
                    return b""
            self._digests[key] = found
        return found

    def is_there(self, key: str) -> bool:
        """Whether anything is at a path. Folders are listed for that, as many paths lie in few of them."""
        path = self._path_of(key)
        folder, name = os.path.split(path)
        if folder not in self._listed:
            self._listed[folder] = _listed(folder)
        names = self._listed[folder]
        if names is None or (name not in names and _FOLDS_CASE) or names.get(name):
            return os.path.exists(path)
        return name in names

    def read(self, key: str, digest: bytes) -> None:
        """Remember which bytes a file holds that was read in this run."""
        self._digests[key] = digest

    def read_plain(self, key: str) -> None:
        """Remember that a file was read in this run and has no word of TensorFlow in it."""
        self._plain.add(key)

    def kept_now(self, skew: float = 0.0, device: int | None = None) -> dict[str, bytes]:
        """What is known after this run of the files that it read. `device` is where the cache lies, whose clock is
        behind ours by `skew` seconds."""
        looked = self._began - max(skew, 0.0)
        found = {}
        for key in (*self._digests, *(self._plain - self._digests.keys())):
            status = self._status.get(key)
            ours = _UNSETTLED
            if status is not None and is_settled(status, looked, device):
                ours = signature(status)
            found[key] = ours + self._tail(key)
        return found

    @property
    def has_news(self) -> bool:
        """Whether this run has read a file of which less was kept."""
        return any(self.kept.get(key) != value for key, value in self.kept_now().items())

    def _tail(self, key: str) -> bytes:
        word = _PLAIN if key in self._plain or self.is_plain(key) else _OTHER
        return word + self._digests.get(key, b"")


def _listed(folder: str) -> dict[str, bool] | None:
    """The names in a folder, and for each whether it is a link; None where the folder may not be listed."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: entry.is_symlink() for entry in entries}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError):
        return None
