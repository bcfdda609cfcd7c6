"""Which files of a run belong to one of several machines: `--shard I/N`.

A file's shard follows from its path below the project alone, so that each machine works it out by itself: neither the
order of files nor where the checkout lies makes a difference, and a new file moves none of the others.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from tfmemlint.config.discover import Target
from tfmemlint.files.bounded_read import digest_of

MOST = 4096


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard `number`, from 1, of `count`."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `I/N`. Raises ValueError, with words for users, for anything else."""
        first, _, last = text.partition("/")
        if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= MOST):
            raise ValueError(f"{text!r} is no shard; write I/N with I from 1 to N, as 1/4")
        return cls(int(first), int(last))

    def holds(self, name: str) -> bool:
        """Whether the file of this name (see `names`) belongs to it."""
        return int.from_bytes(digest_of(name.encode("utf-8", "surrogateescape")), "big") % self.count == self.number - 1


def names(targets: Sequence[Target], folder: str) -> list[str]:
    """The paths of files as all machines have them: from the folder of their configuration, or else from `folder`, with
    forward slashes, accents as one character (macOS may part them)."""
    found = []
    for target in targets:
        path = os.path.relpath(os.path.abspath(target.path), target.config.root or folder)
        found.append(unicodedata.normalize("NFC", path.replace(os.sep, "/")))
    return found


def digest_of_names(of: Sequence[str]) -> str:
    """A name for a set of files, by which machines tell that they see the same."""
    return digest_of("\0".join(of).encode("utf-8", "surrogateescape")).hex()
