"""What the text of a module tells before anybody parses it: its words, what it imports, and for which TensorFlow."""

from __future__ import annotations

import re
from functools import cached_property

from tfmemlint.project.written_imports import imported_names
from tfmemlint.text.code_words import WORD, shared, words_of_code
from tfmemlint.text.paths import is_named_test

KEPT = 2000
"""Texts of which a process remembers this."""

_AS_TF = re.compile(r"^import[^\S\n]+tensorflow[^\S\n]+as[^\S\n]+tf\b", re.MULTILINE)
_OF_TF = re.compile(r"#[^\n]*|(?<![\w.'\"`])tf\.(\w+(?:\.\w+)?)")
_BINDS_TF = re.compile(r"^[^\S\n]*tf[^\S\n]*=|\bas[^\S\n]+tf\b", re.MULTILINE)
_OF_PYTHON_2 = re.compile(r"^[^\S\n]*print[^\S\n]+['\"][^\n]*['\"][^\S\n]*(?:%|,|$)", re.MULTILINE)
"""`print "..."`, which Python 3 does not parse."""

_TESTS = frozenset(("absltest", "pytest", "unittest"))


class Text:
    """What the text of a module tells, each found when it is first asked for: mostly that is the imports alone."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @property
    def _text(self) -> str:
        return self._data.decode(errors="replace")

    @cached_property
    def words(self) -> frozenset[str]:
        """All words, those of comments too."""
        return shared(frozenset(WORD.findall(self._text)))

    @cached_property
    def of_code(self) -> frozenset[str]:
        """The words that its code may hold."""
        return words_of_code(self._text)

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The dotted names of its imports."""
        return tuple(imported_names(self._text))

    @cached_property
    def plain(self) -> frozenset[str]:
        """Those of the imports that stand in no block."""
        return frozenset(imported_names(self._text, in_blocks=False))

    @cached_property
    def of_tf(self) -> frozenset[str]:
        """The first two parts of what it names below TensorFlow, where that is `tf`."""
        text = self._text
        return frozenset(_OF_TF.findall(text)) - {""} if _AS_TF.search(text) else frozenset()

    @cached_property
    def python_2(self) -> bool:
        """Whether it has statements of Python 2."""
        return _OF_PYTHON_2.search(self._text) is not None

    @cached_property
    def binds_tf_anew(self) -> bool:
        """Whether `tf` may stand for more than one thing in it: `tf = tf.compat.v1`."""
        return len(_BINDS_TF.findall(self._text)) > 1

    @cached_property
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
        known = _TEXTS[digest] = Text(data)
    return known


def is_unit_test(path: str, text: Text) -> bool:
    """Whether a module is a unit test, as its name or its imports have it."""
    return is_named_test(path) or text.is_test
