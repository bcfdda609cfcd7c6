"""Bytes for people."""

from __future__ import annotations

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def show_bytes(count: int) -> str:
    """A number of bytes in binary units, below 10 with a decimal unless it is whole: 188 MiB, 1.5 GiB, 1 byte."""
    if count < 1024:
        return "1 byte" if count == 1 else f"{count} bytes"
    size, index = count / 1024, 0
    while round(size) >= 1024 and index + 1 < len(_UNITS):
        size, index = size / 1024, index + 1
    exact = size == int(size)
    return f"{size:.1f} {_UNITS[index]}" if round(size, 1) < 10 and not exact else f"{size:.0f} {_UNITS[index]}"
