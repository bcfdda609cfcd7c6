"""By which words a program may come to functions of other modules that use an API: found in their texts, before any of
them is parsed."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.project.layout import INIT
from tfmemlint.project.texts import is_unit_test
from tfmemlint.project.written_imports import imported_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tfmemlint.project.siblings import Siblings
    from tfmemlint.project.texts import Text

MOST_TEXTS = 200
"""Modules whose texts are looked at for one file; with more, any word may lead to what is looked for."""


def words_leading_to(
    siblings: Siblings, modules: Sequence[tuple[str, Text]], names: tuple[str, ...], depth: int
) -> frozenset[str]:
    """The words by which functions of some modules may be called that use one of some APIs, or call such a function, so
    many calls deep. A name that ends in a dot stands for all that begin so."""
    ways = [_way_to(name) for name in names]
    meant = [path for path, text in modules if any(_goes(text, way) for way in ways)]
    if not meant:
        return frozenset()
    return siblings.outlines(modules).leading_to(_in_functions(names), meant, depth)


@cache
def _way_to(name: str) -> tuple[frozenset[str], ...]:
    """Sets of words of which a text must hold one each to use an API; of a method a word of its class, too."""
    owner = name.rpartition(".")[0]
    if name.endswith("."):
        return (knowledge.words_needed(name) | {owner.rpartition(".")[2]},)
    return (knowledge.words(name), *([knowledge.words_needed(owner)] if knowledge.is_class(owner) else []))


@cache
def _in_functions(names: tuple[str, ...]) -> frozenset[str]:
    """The words of which one stands in a function that uses one of some APIs; of a method behind a dot."""
    found: set[str] = set()
    for name in names:
        words = _way_to(name)[0]
        found |= {f".{word}" for word in words} if knowledge.is_class(name.rpartition(".")[0]) else words
    return frozenset(found)


def _goes(text: Text, way: tuple[frozenset[str], ...]) -> bool:
    return not any(text.words.isdisjoint(words) for words in way)


def texts_within_reach(siblings: Siblings, program: str) -> tuple[tuple[str, Text], ...] | None:
    """The texts of the modules that a program imports, and of those that they import; None where they are too many."""
    found: dict[str, Text | None] = {siblings.path: None}
    waiting = list(_led_to(siblings, siblings.path, imported_names(program)))
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        text = found[path] = siblings.text(path)
        if len(found) > MOST_TEXTS:
            return None
        waiting += _imported_by(siblings, path, text) if text is not None else ()
    return tuple((path, text) for path, text in found.items() if text is not None)


def nearest(siblings: Siblings, program: str, most: int) -> frozenset[str] | None:
    """The modules that a program comes to first, those that it imports before those that they import, and behind them
    the ones that import it; None where all of them are no more than `most`. It does not depend on what is asked."""
    order: dict[str, None] = dict.fromkeys(_led_to(siblings, siblings.path, imported_names(program)))
    level = list(order)
    while level and len(order) <= most:
        texts = ((path, siblings.text(path)) for path in level)
        further = (each for path, text in texts if text is not None for each in _imported_by(siblings, path, text))
        level = [each for each in dict.fromkeys(further) if each not in order]
        order.update(dict.fromkeys(level))
    for path in siblings.importing_files():
        order.setdefault(path)
    return None if len(order) <= most else frozenset(list(order)[:most])


def all_led_to(siblings: Siblings, program: str, others: Iterable[str]) -> Iterator[str]:
    """The modules that a program and some others come to, and these others themselves, each once, nearest first."""
    found = dict.fromkeys((*_led_to(siblings, siblings.path, imported_names(program)), *others))
    level = list(found)
    while level:
        yield from level
        texts = ((path, siblings.text(path)) for path in level)
        further = (each for path, text in texts if text is not None for each in _imported_by(siblings, path, text))
        level = [each for each in dict.fromkeys(further) if each not in found]
        found.update(dict.fromkeys(level))


def texts_of_importers(siblings: Siblings) -> tuple[tuple[str, Text], ...]:
    """The texts of the modules whose imports lead to a file, unit tests left out."""
    found = ((path, siblings.text(path)) for path in siblings.importing_files())
    return tuple(
        (path, text)
        for path, text in found
        if text is not None and not is_unit_test(path, text) and siblings.path in _imported_by(siblings, path, text)
    )


def importers_leading_to(siblings: Siblings) -> list[tuple[str, Text]]:
    """The modules whose imports lead to a file, directly or through packages and other modules that name it in their
    imports and hand it on; unit tests left out."""
    naming = siblings.importing_files()
    found = ((path, text) for path in naming if (text := siblings.text(path)) is not None)
    own = [(path, text) for path, text in found if not is_unit_test(path, text)]
    handing_on = frozenset(naming)
    return [(path, text) for path, text in own if _leads(siblings, path, handing_on)]


def _leads(siblings: Siblings, importer: str, handing_on: frozenset[str]) -> bool:
    seen, waiting = {importer}, [importer]
    while waiting:
        path = waiting.pop()
        text = siblings.text(path)
        for each in _imported_by(siblings, path, text) if text is not None else ():
            if each == siblings.path:
                return True
            if each not in seen and (each in handing_on or os.path.basename(each) == INIT):
                seen.add(each)
                waiting.append(each)
    return False


def _imported_by(siblings: Siblings, path: str, text: Text) -> tuple[str, ...]:
    return siblings.layout.once(("imported by", path), lambda: tuple(_led_to(siblings, path, text.imports)))


def _led_to(siblings: Siblings, importer: str, names: Iterable[str]) -> Iterator[str]:
    """The files to which some names lead, and to which their first parts do: `import a.b` gives `a`, too."""
    for name in dict.fromkeys(part for whole in names for part in (_first(whole), whole)):
        found = None if knowledge.is_library(name) and not name.startswith(".") else siblings.find(importer, name)
        if found is not None and found.path is not None:
            yield found.path


def _first(name: str) -> str:
    return name if name.startswith(".") else name.partition(".")[0]
