"""Patterns of `.gitignore`, none of which can take for ever.

pathspec makes regular expressions of them, and Python's engine tries all ways in which several stars can share a path:
`*a*a*a*a*b`, a line that may come with a repository, would not end. Patterns that leave it few choices stay with it;
the others are matched here, by a machine that reads each character of a path once.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from pathspec import GitIgnoreSpec
from pathspec.pattern import RegexMatchResult, RegexPattern

_FEW = 2
"""Choices that are left to a regular expression. Paths are short: it looks at all pairs of their places at worst."""

_LONGEST = 1 << 14
"""Characters of a pattern. Paths are shorter, and longer patterns take ever longer to compile."""

_TOKEN = re.compile(
    r"\\(?P<escaped>.)|(?P<stars>\*+)|(?P<any>\?)"
    r"|\[(?:(?P<negated>[!^])|(?![!^]))(?P<members>\][^\]]*|[^\]]+)\]|(?P<plain>.)",
    re.DOTALL,
)
_DIRECTORY = re.compile("(?P<ps_d>/)")
"""Its match tells pathspec that a pattern met a directory above the path and not the path itself."""


def compiled(lines: Iterable[str]) -> GitIgnoreSpec:
    """The patterns of these lines, the last that matches deciding. What is no pattern is left out, as by git."""
    return GitIgnoreSpec([_pattern(line) for line in lines])  # type: ignore[misc]  # older versions say Pattern


@lru_cache(1024)
def matches(pattern: str, path: str) -> bool:
    """Whether one pattern matches a path, which is relative and has forward slashes."""
    return compiled([pattern]).match_file(path)


def _pattern(line: str) -> RegexPattern:
    if len(line) > _LONGEST:
        return RegexPattern(None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `[[a]`: Python would print that sets may mean something else one day
            (plain,) = GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return RegexPattern(None)
    if not isinstance(plain, RegexPattern):
        raise TypeError(f"pathspec made {plain!r} of {line!r}")
    segments = _segments(line)
    return LinearPattern(plain, segments) if plain.include is not None and _choices(segments) > _FEW else plain


def _segments(line: str) -> list[str]:
    """What stands between the slashes of a pattern: `**` first where it holds for all directories, an empty text last
    where it asks for a directory."""
    text = (line if line.endswith("\\ ") else line.rstrip()).removeprefix("!")
    segments = text.split("/")
    if not segments[0]:
        del segments[0]
    elif len(segments) == 1 or (len(segments) == 2 and not segments[1]):
        segments.insert(0, "**")
    return [*segments[:1], *(after for before, after in pairwise(segments) if not before == after == "**")]


def _choices(segments: list[str]) -> int:
    """How many stars of a pattern can take more or less of a path while the others share the rest."""
    doubles = sum(segment == "**" for segment in segments[:-1])
    stars = (segment.count("*") for segment in segments if segment != "**")
    return doubles + sum(max(count - 1, 0) for count in stars)


class LinearPattern(RegexPattern):
    """A pattern with many stars, which answers as its regular expression would."""

    def __init__(self, plain: RegexPattern, segments: list[str]) -> None:
        super().__init__(plain.regex, plain.include)
        self._asks_directory = not segments[-1]
        self._asks_below = segments[-1] == "**"
        if self._asks_directory or self._asks_below:
            segments = segments[:-1]
        self._machine = _Machine(segments if segments[-1] != "**" else segments[:-1])

    def match_file(self, file: str) -> RegexMatchResult | None:
        """pathspec's answer for a path: whether the pattern meets it, or a directory above it."""
        whole, above = self._machine.run(file)
        match: re.Match[str] | None = None
        if (whole and not self._asks_directory and not self._asks_below) or (above and self._asks_below):
            match = re.match("", "")
        elif above:
            match = _DIRECTORY.match("/")
        return RegexMatchResult(match) if match else None


class _Machine:
    """Matches a path by a number, bit n of which is set while the first n steps of the pattern fit what was read.

    A step takes a character. Bits of `stays` are kept where a `*` takes more, those of `stays_anywhere` within a `**/`,
    and `skips` are the places from which a `**/` can be left out.
    """

    def __init__(self, segments: list[str]) -> None:
        self._steps = 0
        self._bits: dict[str, list[int]] = defaultdict(list)
        self._sets: dict[str, list[int]] = defaultdict(list)
        for index, segment in enumerate(segments):
            if index and segments[index - 1] != "**":
                self._step(self._bits["/"])
            if segment == "**":
                self._bits["skips"].append(self._steps)
                self._step(self._bits["any"])
                self._bits["stays anywhere"].append(self._steps)
                self._step(self._bits["/"])
            else:
                self._glob("?*" if segment == "*" else segment)
        masks = {name: _mask(bits) for name, bits in self._bits.items()}
        self._any, self._any_but_slash = masks.pop("any", 0), masks.pop("any but slash", 0)
        self._stays, self._stays_anywhere = masks.pop("stays", 0), masks.pop("stays anywhere", 0)
        self._skips, self._masks = masks.pop("skips", 0), masks
        self._classes = [(re.compile(text), _mask(bits)) for text, bits in self._sets.items()]

    def run(self, path: str) -> tuple[bool, bool]:
        """Whether the pattern fits the whole path, and whether it fits a directory above it."""
        last, above = 1 << self._steps, False
        state = 1 | (1 & self._skips) << 2
        for char in path:
            takes, stays = self._masks.get(char, 0) | self._any, self._stays_anywhere
            if char == "/":
                above = above or bool(state & last)
            else:
                takes, stays = takes | self._any_but_slash, stays | self._stays
            for accepted, mask in self._classes:
                if accepted.match(char):
                    takes |= mask
            state = (state & takes) << 1 | state & stays
            state |= (state & self._skips) << 2
        return bool(state & last), above

    def _step(self, bits: list[int]) -> None:
        bits.append(self._steps)
        self._steps += 1

    def _glob(self, segment: str) -> None:
        for token in _TOKEN.finditer(segment):
            if token["stars"]:
                self._bits["stays"].append(self._steps)
            elif token["any"]:
                self._step(self._bits["any but slash"])
            elif token["members"]:
                members = token["members"].replace("\\", "\\\\")
                self._step(self._sets[f"[{'^' if token['negated'] else ''}{members}]"])
            else:
                self._step(self._bits[token["escaped"] or token["plain"]])


def _mask(bits: list[int]) -> int:
    """The number with these bits, in time that does not grow with their square."""
    data = bytearray(max(bits, default=0) // 8 + 1)
    for bit in bits:
        data[bit // 8] |= 1 << bit % 8
    return int.from_bytes(data, "little")
