"""Failures made small: parts of the input are left out for as long as it fails in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_PIECES = (re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)"), re.compile(rb"\w+|\s+|."))


def reduced(data: bytes, fails: Callable[[bytes], bool], attempts: int) -> bytes:
    """The smallest input that was found, of whole lines first and of tokens then, with so many questions at most."""
    left = attempts

    def asked(pieces: Sequence[bytes]) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(b"".join(pieces))

    for piece in _PIECES:
        data = b"".join(_without_parts([each for each in piece.findall(data) if each], asked))
    return data


def _without_parts(pieces: list[bytes], fails: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
    size = len(pieces) // 2
    while size:
        start = 0
        while start < len(pieces):
            rest = pieces[:start] + pieces[start + size :]
            if fails(rest):
                pieces = rest
            else:
                start += size
        size //= 2
    return pieces
