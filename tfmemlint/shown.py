"""Names and texts from outside as they may be shown: on a terminal, in a log, in the head of a patch."""

from __future__ import annotations

import os
import re

# C0 and C1 controls, the marks that reorder text on a screen, and halves of surrogate pairs: shown as they are they
# would let a file write to the terminal or make a stream fail.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def shown(text: str | os.PathLike[str]) -> str:
    """The text or path on one line, with characters that no line of output may hold written as escapes."""
    return _UNSAFE.sub(_escape, os.fspath(text))


def short(path: str) -> str:
    """A path as short as it stays clear: relative when it lies below the working directory."""
    if not os.path.isabs(path):
        return path
    try:
        relative = os.path.relpath(path)
    except (ValueError, OSError):
        return path
    return path if relative.startswith("..") else relative


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return _SHORT.get(match.group()) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def patch_name(path: str) -> bytes:
    """A path as the head of a patch names it: in C quotes, as git has them, where it could be taken for something else
    or could not be shown; with a tab behind it where it holds blanks."""
    path = path.replace(os.sep, "/")
    name = os.fsencode(path)
    if not _UNSAFE.search(path) and not path.startswith(" ") and not {'"', "\\"}.intersection(path):
        return name + b"\t" if b" " in name else name
    return b'"' + b"".join(_C_QUOTED.get(byte, bytes([byte])) for byte in name) + b'"'


_C_QUOTED = {byte: f"\\{byte:03o}".encode() for byte in (*range(0x20), *range(0x7F, 0x100))}
_C_QUOTED |= {ord(char): f"\\{char}".encode() for char in '"\\'}
_C_QUOTED |= {ord(char): f"\\{letter}".encode() for char, letter in zip("\a\b\t\n\v\f\r", "abtnvfr", strict=True)}
