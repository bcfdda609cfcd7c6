"""Bytes for people."""

from __future__ import annotations


def show_bytes(count: int) -> str:
    """A number of bytes in binary units: 188 MiB, 1.5 GiB, 512 bytes."""
    if count < 1024:
        return f"{count} bytes"
    size = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024:
            return f"{size:.1f} {unit}" if size < 10 and size != int(size) else f"{size:.0f} {unit}"
    return f"{size / 1024:.1f} TiB"
