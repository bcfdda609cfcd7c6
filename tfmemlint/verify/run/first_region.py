"""The address space that the allocator of a measured program begins with."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.verify.run.measure import Settings

REGION = 4 << 30
"""Bytes. The allocator writes a word for each 256 of a region, so that one of 8 GiB takes 256 MiB and a tenth of a
second in each program. One that needs more gets a second region, which is as large."""


def first_region(settings: Settings) -> int:
    """Bytes of address space that the CPU's allocator takes at once: the largest power of two within all limits, up to
    `REGION`."""
    if settings.allocator_limit is not None:
        return settings.allocator_limit * 9 // 10
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size: int = 1 << (min(memory // 2, settings.limits.memory, REGION).bit_length() - 1)
    return size
