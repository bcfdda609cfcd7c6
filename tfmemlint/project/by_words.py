"""By which words a program may come to functions that use some API: found backwards in texts, before any is parsed.

A function that uses it holds a word of it. Who calls that function has its name, or the name of its class, and so on. A
word too many costs time, and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from tfmemlint.text.code_words import shared

_HEAD = re.compile(r"^([^\S\n]*)(?:async[^\S\n]+)?(def|class)[^\S\n]+(\w+)", re.MULTILINE)
_WORD = re.compile(r"\.?[^\W\d]\w*")
_OTHER_NAME = re.compile(
    r"(?<![\w.])([\w.]*\w)(?:\s+as\s+(\w+)"
    r"|[^\S\n]*=[^\S\n]*(?=(?:[\w.]*\bpartial\([^\S\n]*)?([\w.]*\w)[^\S\n]*(?:[=,)\n;#]|$)))"
)
"""What gives a function another name: an import, an assignment, an argument."""


class Defined(NamedTuple):
    """A function or class: the words by which it is called, and those that stand in it; of attributes also with the dot
    before them."""

    names: frozenset[str]
    words: frozenset[str]


class Outline(NamedTuple):
    """The functions and classes of a module, and the other names that things get in it."""

    holding: Mapping[str, Collection[str]]
    """For each word, of attributes also with the dot before it, the names of the functions and classes that hold it."""
    renamed: tuple[tuple[str, str], ...]


class Outlines:
    """The outlines of all modules that a program may come to, by their paths."""

    def __init__(self, by_path: Mapping[str, Outline]) -> None:
        self.by_path = by_path
        self._renamed: dict[str, set[str]] = {}
        for each in by_path.values():
            for old, new in each.renamed:
                self._renamed.setdefault(old, set()).add(new)

    def leading_to(self, words: frozenset[str], targets: Iterable[str], depth: int) -> frozenset[str]:
        """The words by which functions of the modules `targets` may be called that hold one of some words, and those of
        any module that call such functions, `depth` calls deep."""
        wanted = self._with_other_names(words)
        holding = [self.by_path[path] for path in targets if path in self.by_path]
        found: set[str] = set()
        for _ in range(depth):
            names = {name for each in holding for word in wanted & each.holding.keys() for name in each.holding[word]}
            wanted, holding = self._with_other_names(names) - found, list(self.by_path.values())
            found |= wanted
        return frozenset(found)

    def _with_other_names(self, words: Iterable[str]) -> set[str]:
        found = set(words)
        waiting = list(found)
        while waiting:
            more = self._renamed.get(waiting.pop().removeprefix("."), set()) - found
            found |= more
            waiting += more
        return found


def outline(text: str) -> Outline:
    """The outline of a program text; what stands behind a function at the same depth may count as part of it."""
    defined: list[Defined] = []
    around: list[tuple[int, str, str, int]] = []
    heads = [(len(match[1].expandtabs()), match[2], match[3], match.start()) for match in _HEAD.finditer(text)]
    for depth, kind, name, start in (*heads, (0, "", "", len(text))):
        while around and (around[-1][0] >= depth or not kind):
            defined.append(_defined(text, around, start))
            around.pop()
        around.append((depth, kind, name, start))
    found = _OTHER_NAME.findall(text)
    last = ((name.rpartition(".")[2], new, of.rpartition(".")[2]) for name, new, of in found)
    renamed = ((name, new) if new else (of, name) for name, new, of in last)
    return Outline(_holding(defined), tuple(dict.fromkeys(renamed)))


def _holding(defined: Iterable[Defined]) -> dict[str, Collection[str]]:
    """For each word the names of those that hold it. Most words stand in one alone, whose own set is enough then: a set
    for each word of a project were a tenth of all that a run keeps."""
    found: dict[str, Collection[str]] = {}
    several: dict[str, set[str]] = {}
    for each in defined:
        for word in each.words:
            if word in several:
                several[word].update(each.names)
            elif found.setdefault(word, each.names) is not each.names:
                several[word] = {*found[word], *each.names}
    found.update((word, tuple(names)) for word, names in several.items())
    return found


def _defined(text: str, around: Sequence[tuple[int, str, str, int]], end: int) -> Defined:
    """The innermost of some functions and classes in each other, which ends here; of a class its first lines count."""
    _, kind, name, start = around[-1]
    if kind == "class":
        inner = _HEAD.search(text, start + 1, end)
        end = inner.start() if inner is not None else end
    names = {name, *(other for _, of, other, _ in around[-2:-1] if name == "__init__" and of == "class")}
    words = frozenset(_WORD.findall(text, start, end))
    return Defined(frozenset(names), shared(words | {word.lstrip(".") for word in words}))
