"""Which comments speak about a place: those that hold for a stretch of text, and those that switch codes off and on.

Both are looked up, not searched: a file may have a comment on each of its lines.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping, Sequence

from tfmemlint.finding import Span
from tfmemlint.lint.directives import Directive

Covered = Mapping[int, frozenset[str]]
"""The codes that each directive (by id) speaks of."""


class Reaches:
    """The directives that hold for a stretch of text; `whole` is the span of the whole file."""

    def __init__(self, reaches: Iterable[tuple[Span, Directive]], whole: Span, covered: Covered) -> None:
        self._covered = covered
        self._whole = whole
        self._by_span: dict[Span, list[Directive]] = {}
        for span, directive in reaches:
            self._by_span.setdefault(span, []).append(directive)
        self._spans = sorted(span for span in self._by_span if span != whole)
        self._furthest: list[int] = []  # the end of the stretch that reaches furthest of those up to here
        for span in self._spans:
            self._furthest.append(max(span.end, self._furthest[-1] if self._furthest else 0))
        self._found: dict[tuple[Span, str], list[Directive]] = {}

    def around(self, place: int) -> list[Span]:
        """The stretches that hold a place, each once."""
        found = [self._whole] if self._whole in self._by_span else []
        index = bisect.bisect_right(self._spans, place, key=lambda span: span.start) - 1
        while index >= 0 and self._furthest[index] >= place:
            if self._spans[index].end >= place:
                found.append(self._spans[index])
            index -= 1
        return found

    def directives(self, span: Span) -> Sequence[Directive]:
        """All directives that hold for exactly this stretch, in order."""
        return self._by_span[span]

    def speaking(self, span: Span, code: str) -> list[Directive]:
        """Those of them that speak of a code."""
        key = (span, code)
        if key not in self._found:
            self._found[key] = [each for each in self._by_span[span] if code in self._covered[id(each)]]
        return self._found[key]


class Switches:
    """The `disable` and `enable` comments of a file, in order, each with the offset from which it holds."""

    def __init__(self, switches: Sequence[tuple[int, Directive]], covered: Covered) -> None:
        self._switches = switches
        self._covered = covered
        self._by_code: dict[str, tuple[list[int], list[Directive]]] = {}
        self._place = {id(directive): place for place, (_, directive) in enumerate(switches)}
        self._off_before: list[frozenset[str]] = []
        self._disabling: dict[str, list[int]] = {}
        self._enabling: dict[str | None, list[int]] = {}
        self._read()

    def _read(self) -> None:
        off: frozenset[str] = frozenset()
        same: dict[frozenset[str], frozenset[str]] = {}  # many comments, few states
        for place, (_, directive) in enumerate(self._switches):
            covered = self._covered[id(directive)]
            self._off_before.append(off)
            off = off | covered if directive.verb == "disable" else off - covered
            off = same.setdefault(off, off)
            if directive.verb == "disable":
                for code in covered:
                    self._disabling.setdefault(code, []).append(place)
            elif directive.items is None:
                self._enabling.setdefault(None, []).append(place)
            else:
                for text in dict.fromkeys(item.text.upper() for item in directive.items):
                    self._enabling.setdefault(text, []).append(place)

    def disabling(self, place: int, code: str) -> Directive | None:
        """The `disable` that holds for a code at an offset, or None."""
        if code not in self._by_code:
            self._by_code[code] = self._about(code)
        points, last = self._by_code[code]
        index = bisect.bisect_right(points, place) - 1
        return last[index] if index >= 0 and last[index].verb == "disable" else None

    def _about(self, code: str) -> tuple[list[int], list[Directive]]:
        """The offsets from which something else holds for a code, and the last comment of those up to each."""
        about = [(point, at) for at, (point, each) in enumerate(self._switches) if code in self._covered[id(each)]]
        about.sort()
        last: list[int] = []
        for _, at in about:
            last.append(max(at, last[-1] if last else at))
        return [point for point, _ in about], [self._switches[at][1] for at in last]

    def closing(self, directive: Directive, gone: set[str]) -> list[tuple[Directive, set[str]]]:
        """The `enable` comments that end an unused `disable`, with their entries (in capitals) that do.

        `gone` are the entries of the `disable` that silence nothing. Nothing ends what is off for another reason.
        """
        place, mine = self._place[id(directive)], self._covered[id(directive)]
        if self._off_before[place] & mine:
            return []
        stop = min((_next(self._disabling.get(code, ()), place, len(self._switches)) for code in mine),
                   default=len(self._switches))  # fmt: skip
        if directive.items is None:
            first = _next(self._enabling.get(None, ()), place, stop)
            return [(self._switches[first][1], set())] if first < stop else []
        found: dict[int, set[str]] = {}
        for text in gone:
            first = _next(self._enabling.get(text, ()), place, stop)
            if first < stop:
                found.setdefault(first, set()).add(text)
        return [(self._switches[at][1], texts) for at, texts in sorted(found.items())]


def _next(places: Sequence[int], after: int, default: int) -> int:
    """The first of some places in order that comes after one."""
    index = bisect.bisect_right(places, after)
    return min(places[index], default) if index < len(places) else default
