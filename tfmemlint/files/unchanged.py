"""Whether a file is as it was when it was read, told by its status alone and without reading it again.

A status tells little by itself. Two edits in one tick of the file system's clock, or in one second where it counts
seconds, leave the same times, and `touch -r` sets the time of a change to any other. So, as git does with its index:

- The signature holds size, times of the last change of bytes and of the status, device and inode. Nothing that programs
  can do sets the time of the last change of the status. (Windows has none; there a tool that gives a changed file its
  old time, and leaves its size, is not seen.) Signatures are compared for being the same, never for being older: a
  clock that was set back makes another one.
- A signature counts only if it was *settled* when the file was looked at: if both times were by then older than any
  tick. Whatever is done to the file later has a later time then. What is not settled is read the next time, too.
"""

from __future__ import annotations

import os
import stat
import struct

TICK = 3.0
"""Seconds that hold a tick of any file system's clock: that of FAT takes two."""
FAR = 60.0
"""The same where the clock is not known to be ours, as on another machine: what clocks may differ by is added."""

LENGTH = 48
_PACKED = struct.Struct("<qqqQQQ")
_WORD = (1 << 64) - 1


def status_of(path: str) -> os.stat_result | None:
    """The status of a regular file, links followed; None for what is none or cannot be asked."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def signature(status: os.stat_result) -> bytes:
    """What stays the same as long as nobody touches the file: LENGTH bytes."""
    return _PACKED.pack(
        status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino & _WORD, status.st_dev & _WORD,
        status.st_mode,
    )  # fmt: skip


def is_settled(status: os.stat_result, looked: float, device: int | None = None) -> bool:
    """Whether any change after `looked`, a time in seconds of the clock of `device`, shows in the signature."""
    margin = TICK if status.st_dev == device else FAR
    return max(status.st_mtime, status.st_ctime) < looked - margin
