"""Bytes of a Python file to characters and back, with every byte outside an edit left as it was.

The encoding is found as Python itself does: byte order mark, then the `coding` comment of the first two lines
(PEP 263), then UTF-8.
"""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

LINE_END = re.compile(r"\r\n|\n|\r")
_LINE_END_BYTES = re.compile(rb"\r\n|\n|\r")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
# Codecs of names and not of texts: they take time that grows with the square of the length, or read nothing.
_NO_TEXT = frozenset({"idna", "punycode", "undefined"})
_BLANK_OR_COMMENT = re.compile(rb"^[ \t\f]*(?:#.*)?$")


class SourceError(Exception):
    """A file that cannot be read as program text: the reason in one line, and its row and column, from 1."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class RewriteError(ValueError):
    """Edits that this file cannot take without touching more than they say; the file must stay as it is."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The characters of a file (line ends as they are, no byte order mark) and how they were coded."""

    raw: str
    encoding: str
    bom: int
    """Length of the byte order mark in bytes."""


def decode_python(data: bytes) -> Decoded:
    """Decode a Python file. Raises SourceError for unknown encodings, undecodable bytes and NUL bytes."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise SourceError("the file is coded in UTF-16, which Python does not read; save it as UTF-8")
    bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    nul = data.find(b"\0")
    if nul >= 0:
        raise SourceError("the file contains a NUL byte, which Python source must not", *_place(data[bom:nul], "utf-8"))
    cookie, row = _cookie(data[bom:])
    encoding = _codec(cookie, row) if cookie else "utf-8"
    if bom and encoding != "utf-8":
        raise SourceError(f"the file starts with a UTF-8 byte order mark but declares the encoding {cookie}", row)
    decoded = _decode(data, encoding, bom, declared=bool(cookie))
    if cookie and "coding" not in "".join(decoded.raw.splitlines(keepends=True)[:2]):
        raise SourceError(f"the declared encoding {cookie} does not read its own declaration; correct it", row)
    return decoded


def decode_utf8(data: bytes) -> Decoded:
    """Decode a notebook or Markdown file, which are UTF-8 with or without a mark. Raises SourceError."""
    bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    return _decode(data, "utf-8", bom, declared=False)


def splice(data: bytes, decoded: Decoded, edits: Sequence[tuple[int, int, str]]) -> tuple[bytes, str]:
    """Replace character ranges of `decoded.raw`, given in order and apart from each other, in the bytes of the file.

    Returns the new bytes and the new raw characters.
    Raises RewriteError when the new characters cannot be written in the file's encoding.
    """
    offsets = _byte_offsets(data, decoded, sorted({place for start, end, _ in edits for place in (start, end)}))
    parts: list[bytes] = []
    expected: list[str] = []
    done = raw_done = 0
    for start, end, content in edits:
        try:
            encoded = content.encode(decoded.encoding)
        except UnicodeError as error:
            raise RewriteError(f"the repair cannot be written in the file's encoding {decoded.encoding}") from error
        parts += (data[done : offsets[start]], encoded)
        expected += (decoded.raw[raw_done:start], content)
        done, raw_done = offsets[end], end
    new = b"".join((*parts, data[done:]))
    try:
        read_back = _characters(new[decoded.bom :], decoded.encoding)
    except UnicodeError:
        read_back = None
    raw = "".join((*expected, decoded.raw[raw_done:]))
    if read_back != raw:
        raise RewriteError(f"the repair cannot be placed safely in a file coded in {decoded.encoding}")
    return new, raw


def _cookie(data: bytes) -> tuple[str, int]:
    """The declared encoding and its row, or an empty string."""
    lines = _LINE_END_BYTES.split(data[:4096], maxsplit=2)[:2]
    for row, line in enumerate(lines, start=1):
        found = _COOKIE.match(line)
        if found:
            return found.group(1).decode("ascii", "replace"), row
        if not _BLANK_OR_COMMENT.match(line):
            break
    return "", 1


def _codec(cookie: str, row: int) -> str:
    name = cookie.lower().replace("_", "-")
    if name == "utf-8" or name.startswith("utf-8-"):
        return "utf-8"
    wrong = SourceError(f"the declared encoding {cookie} is not one for Python source; correct the coding comment", row)
    try:
        name = codecs.lookup(cookie).name
        if name in _NO_TEXT:
            raise wrong
        b"#".decode(name)
    except UnicodeError:
        raise wrong from None
    except (LookupError, ValueError):
        raise SourceError(f"unknown encoding {cookie} declared; correct the coding comment", row) from None
    return name


def _decode(data: bytes, encoding: str, bom: int, *, declared: bool) -> Decoded:
    body = data[bom:]
    advice = "correct the coding comment or the file" if declared else "save the file as UTF-8"
    try:
        return Decoded(_characters(body, encoding), encoding, bom)
    except UnicodeDecodeError as error:
        wrong = f"0x{body[error.start]:02x}" if error.start < len(body) else "end"
        place = _place(body[: error.start], encoding)
        raise SourceError(f"byte {wrong} cannot be decoded as {encoding}; {advice}", *place) from None
    except Exception:  # a codec may raise what it likes
        raise SourceError(f"the file cannot be decoded as {encoding}; {advice}") from None


def _characters(data: bytes, encoding: str, errors: str = "strict") -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that `unicode_escape` does not know
        return data.decode(encoding, errors)


def _place(before: bytes, encoding: str) -> tuple[int, int]:
    """Row and column, from 1, of the byte that follows `before`; in bytes where these cannot be decoded alone."""
    lines = _LINE_END_BYTES.split(before)
    try:
        return len(lines), len(_characters(lines[-1], encoding, "replace")) + 1
    except ValueError:
        return len(lines), len(lines[-1]) + 1


def _byte_offsets(data: bytes, decoded: Decoded, places: Sequence[int]) -> dict[int, int]:
    """Byte offsets in `data` of the given character offsets, which are in ascending order."""
    raw, bom = decoded.raw, decoded.bom
    if len(raw) + bom == len(data):
        return {place: place + bom for place in places}
    if decoded.encoding == "utf-8":
        offsets, done, position = {}, 0, bom
        for place in places:
            position += len(raw[done:place].encode())
            offsets[place], done = position, place
        return offsets
    # Any other codec: feed it byte by byte; a character begins where the one before it was complete.
    decoder = codecs.getincrementaldecoder(decoded.encoding)()
    begins, count = {0: bom}, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index in range(bom, len(data)):
            count += len(decoder.decode(data[index : index + 1]))
            begins.setdefault(count, index + 1)
    try:
        return {place: begins[place] for place in places}
    except KeyError:
        raise RewriteError(f"the place of the repair cannot be found in a file coded in {decoded.encoding}") from None
