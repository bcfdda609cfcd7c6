"""The words of the modules that a program imports, found by a look at their text, before any of them is parsed.

What a name of theirs stands for is an API that only they may mention: `from data import load` gives a pipeline, and no
word of a pipeline stands in the file that has it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.lint.listed import Listed
from tfmemlint.lint.triggers import triggered
from tfmemlint.project.layout import INIT
from tfmemlint.project.siblings import MOST_MODULES
from tfmemlint.project.written_imports import imported_names
from tfmemlint.text.code_words import words_of_source

if TYPE_CHECKING:
    from tfmemlint.project.siblings import Siblings
    from tfmemlint.rule import Rule
    from tfmemlint.text.source import Source


def awake_for(rules: Sequence[Rule], source: Source, siblings: Siblings | None) -> tuple[Rule, ...]:
    """The rules that the words of a program and of the modules that it imports let speak; all of them are imported."""
    text = source.text
    words = words_of_source(source)
    if siblings is None:
        awake = triggered(rules, words)
    else:
        awake = triggered(rules, words, lambda: words_within_reach(text, siblings))
    return tuple(rule.loaded() if isinstance(rule, Listed) else rule for rule in awake)


def words_within_reach(text: str, siblings: Siblings) -> frozenset[str]:
    """The words in the code of all modules of the project that a program imports, and of those whose names a package
    hands on."""
    found: set[str] = set()
    seen = {siblings.path}
    wanted = [(siblings.path, name) for name in imported_names(text)]
    while wanted and len(seen) <= MOST_MODULES:
        path = _module(siblings, *wanted.pop())
        if path is None or path in seen:
            continue
        seen.add(path)
        read = siblings.text(path)
        if read is not None:
            found |= read.of_code
            if os.path.basename(path) == INIT:
                wanted += [(path, name) for name in read.imports]
    return frozenset(found)


def _module(siblings: Siblings, importer: str, name: str) -> str | None:
    if not name.startswith(".") and knowledge.is_library(name):
        return None
    found = siblings.find(importer, name)
    return found.path if found is not None else None
