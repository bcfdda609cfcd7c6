"""What the text of a module tells before anybody parses it: its words, what it imports, and for which TensorFlow."""

from __future__ import annotations

import re
from typing import NamedTuple

from tfmemlint.project.written_imports import imported_names
from tfmemlint.text.code_words import WORD, words_of_code
from tfmemlint.text.paths import is_named_test

KEPT = 2000
"""Texts of which a process remembers this."""

_AS_TF = re.compile(r"^import[^\S\n]+tensorflow[^\S\n]+as[^\S\n]+tf\b", re.MULTILINE)
_OF_TF = re.compile(r"#[^\n]*|(?<![\w.'\"`])tf\.(\w+(?:\.\w+)?)")
_BINDS_TF = re.compile(r"^[^\S\n]*tf[^\S\n]*=|\bas[^\S\n]+tf\b", re.MULTILINE)
_OF_PYTHON_2 = re.compile(r"^[^\S\n]*print[^\S\n]+['\"][^\n]*['\"][^\S\n]*(?:%|,|$)", re.MULTILINE)
"""`print "..."`, which Python 3 does not parse."""

_TESTS = frozenset(("absltest", "pytest", "unittest"))


class Text(NamedTuple):
    """The words of a module's text, the dotted names of its imports and of those that stand in no block, the first two
    parts of what it names below TensorFlow, where that is `tf`, whether it has statements of Python 2, and whether `tf`
    may stand for more than one thing in it: `tf = tf.compat.v1`. `of_code` are the words that its code may hold."""

    words: frozenset[str]
    imports: tuple[str, ...]
    plain: frozenset[str] = frozenset()
    of_tf: frozenset[str] = frozenset()
    python_2: bool = False
    binds_tf_anew: bool = False
    of_code: frozenset[str] = frozenset()

    @property
    def is_test(self) -> bool:
        """Whether the module imports what unit tests are made with."""
        return any(not _TESTS.isdisjoint(name.split(".")) for name in self.imports)


_TEXTS: dict[bytes, Text] = {}


def text_of(data: bytes, digest: bytes) -> Text:
    """What the bytes of a module tell; `digest` is theirs, by which it is remembered."""
    known = _TEXTS.get(digest)
    if known is None:
        if len(_TEXTS) >= KEPT:
            _TEXTS.clear()
        text = data.decode(errors="replace")
        of_tf = frozenset(_OF_TF.findall(text)) - {""} if _AS_TF.search(text) else frozenset[str]()
        plain = frozenset(imported_names(text, in_blocks=False))
        old = _OF_PYTHON_2.search(text) is not None
        anew = len(_BINDS_TF.findall(text)) > 1
        words, imports = frozenset(WORD.findall(text)), tuple(imported_names(text))
        known = _TEXTS[digest] = Text(words, imports, plain, of_tf, old, anew, words_of_code(text))
    return known


def is_unit_test(path: str, text: Text) -> bool:
    """Whether a module is a unit test, as its name or its imports have it."""
    return is_named_test(path) or text.is_test
