"""Rewritings of a sample program that must change nothing in what is found: other layouts and other import styles."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Rewriting = Callable[[str], str]

_COOKIE = "# -*- coding: latin-1 -*-  \u00e9\n"


@dataclass(frozen=True)
class Variant:
    """One way to write a program differently.

    `apply` gives the other bytes of a program text. `rows` is by how many lines places move, `columns` whether they
    stay in their columns. `undo` brings a repaired variant back to the text that it must equal, or is None where the
    repair may be spelled differently and only has to parse.
    """

    name: str
    apply: Callable[[str], bytes]
    undo: Callable[[bytes], str] | None
    rows: int = 0
    columns: bool = True


def variants(text: str) -> Iterator[Variant]:
    """All variants that make sense for this program."""
    yield from _layouts(text)
    yield from _spellings(text)


def _layouts(text: str) -> Iterator[Variant]:
    yield Variant("CRLF line ends", lambda t: t.replace("\n", "\r\n").encode(), _from_crlf)
    yield Variant("byte order mark", lambda t: b"\xef\xbb\xbf" + t.encode(), _from_bom)
    if not text.startswith("#!") and _fits_latin1(text):
        yield Variant("latin-1 cookie", lambda t: (_COOKIE + t).encode("latin-1"), _from_cookie, rows=1)
    yield Variant("no final newline", lambda t: t.rstrip("\n").encode(), _ended)
    yield Variant("form feed", lambda t: b"\x0c\n" + t.encode(), lambda b: b.decode().removeprefix("\x0c\n"), rows=1)
    if re.search(r"^ {4}", text, re.MULTILINE):
        yield Variant("tabs", lambda t: _tabs(t).encode(), _from_tabs, columns=False)


def _spellings(text: str) -> Iterator[Variant]:
    for old, new, import_text in (
        ("tf", "T", "import tensorflow as tf"),
        ("np", "N", "import numpy as np"),
        ("keras", "K", "from tensorflow import keras"),
    ):
        if _imports(text, import_text) and new not in _names(text):
            renamed = f"{import_text.removesuffix(f' as {old}')} as {new}"
            back = _renaming(new, old, renamed, import_text)
            yield _spelling(f"`{renamed}`", _renaming(old, new, import_text, renamed), back)
    if not _imports(text, "import tensorflow as tf"):
        return
    plain = _renaming("tf", "tensorflow", "import tensorflow as tf", "import tensorflow")
    yield _spelling("`import tensorflow`", plain, None)
    compat = "import tensorflow.compat.v2 as tf"
    yield _spelling(
        f"`{compat}`",
        lambda t: t.replace("import tensorflow as tf", compat, 1),
        lambda t: t.replace(compat, "import tensorflow as tf", 1),
    )
    for module in ("data", "keras", "config"):
        if re.search(rf"\btf\.{module}\.", text) and f"from tensorflow import {module}" not in text:
            yield _spelling(f"`from tensorflow import {module} as part`", _from_import(module), None)


def _spelling(name: str, there: Rewriting, back: Rewriting | None) -> Variant:
    undo = None if back is None else (lambda data: back(data.decode()))
    return Variant(name, lambda text: there(text).encode(), undo, columns=False)


def _ended(data: bytes) -> str:
    text = data.decode()
    return text if text.endswith("\n") else f"{text}\n"


def _from_crlf(data: bytes) -> str:
    text = data.decode()
    if "\n" in text.replace("\r\n", ""):
        return text.replace("\r\n", "\n") + "<a line end of the repair is LF in a CRLF file>"
    return text.replace("\r\n", "\n")


def _from_bom(data: bytes) -> str:
    if not data.startswith(b"\xef\xbb\xbf"):
        return "<the repair lost the byte order mark>" + data.decode()
    return data[3:].decode()


def _from_cookie(data: bytes) -> str:
    return data.decode("latin-1").removeprefix(_COOKIE)


def _fits_latin1(text: str) -> bool:
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _tabs(text: str) -> str:
    return re.sub(r"^(?: {4})+", lambda found: "\t" * (len(found[0]) // 4), text, flags=re.MULTILINE)


def _from_tabs(data: bytes) -> str:
    return re.sub(r"^[\t ]+", lambda found: found[0].replace("\t", "    "), data.decode(), flags=re.MULTILINE)


def _imports(text: str, line: str) -> bool:
    return re.search(rf"^\s*{re.escape(line)}[ \t]*(?:#.*)?$", text, re.MULTILINE) is not None


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def _names(text: str) -> set[str]:
    return {token.string for token in _tokens(text) if token.type == tokenize.NAME}


def _renaming(old: str, new: str, old_import: str, new_import: str) -> Rewriting:
    """Write `new` for the name `old` (attributes of that name stay) and the import that binds it."""

    def apply(text: str) -> str:
        line = rf"^(\s*){re.escape(old_import)}(?=[ \t]*(?:#.*)?$)"
        return re.sub(line, rf"\1{new_import}", _renamed(text, old, new), flags=re.MULTILINE)

    return apply


def _renamed(text: str, old: str, new: str) -> str:
    """Write `new` for the variable `old`; attributes of that name and all names in import statements stay."""
    lines = text.split("\n")
    for row, column in reversed(list(_uses(text, old))):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "\n".join(lines)


def _uses(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Row and column of each token that is this name and neither an attribute nor part of an import."""
    before, first = "", ""
    for token in _tokens(text):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT) or token.string == ";":
            if token.type != tokenize.NL:
                first = ""
            continue
        if token.type == tokenize.COMMENT:
            continue
        first = first or token.string
        is_use = token.type == tokenize.NAME and token.string == name and before != "."
        if is_use and first not in ("import", "from"):
            yield token.start
        before = token.string


def _from_import(module: str) -> Rewriting:
    def apply(text: str) -> str:
        text = re.sub(rf"\btf\.{module}\.", "part.", text)
        both = f"import tensorflow as tf; from tensorflow import {module} as part"
        return text.replace("import tensorflow as tf", both, 1)

    return apply
