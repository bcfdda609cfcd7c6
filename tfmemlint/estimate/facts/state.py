"""What a program that is followed has written, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tfmemlint.estimate.facts.values import MISSING, Open, Origin, join
from tfmemlint.model.values import OneOf, Sequence, Unknown, Value, constant

Changes = dict[tuple[int, Any], tuple[dict[Any, Value], Any, Value]]
"""What one way wrote: by place and key where, under which key and what."""

Outcome = tuple[str, Value] | None
"""How a block ends, where it does not run to its end: "return" (with what), "break", "continue" or "raise"."""


class State:
    """All writes to variables, attributes and lists."""

    def __init__(self) -> None:
        self._journal: list[tuple[dict[Any, Value], Any, Value]] = []
        self._branches = 0
        self.causes: dict[tuple[int, Any], tuple[Origin, ...]] = {}
        """Why a value is not known as a whole, by its place: a condition or a number of turns that is not known."""

    def put(self, where: dict[Any, Value], key: Any, value: Value) -> None:
        """Write, so that it can be taken back."""
        if self._branches:
            self._journal.append((where, key, where.get(key, MISSING)))
        where[key] = value

    def branch(self, run: Callable[[], Outcome]) -> tuple[Outcome, Changes]:
        """Follow one way and take back what it wrote, which is given with how it ended."""
        start = len(self._journal)
        self._branches += 1
        try:
            outcome = run()
        finally:
            self._branches -= 1
            written = self._journal[start:]
            del self._journal[start:]
            changes: Changes = {(id(where), key): (where, key, where.get(key, MISSING)) for where, key, _ in written}
            for where, key, before in reversed(written):
                if before is MISSING:
                    where.pop(key, None)
                else:
                    where[key] = before
        return outcome, changes

    def apply(self, changes: Changes) -> None:
        """Write what one way wrote."""
        for where, key, value in changes.values():
            if value is not MISSING:
                self.put(where, key, value)

    def merge(self, one: Changes, other: Changes, why: tuple[Origin, ...] = ()) -> None:
        """Write what is known after either of two ways, which part for want of what `why` names."""
        for at in dict.fromkeys([*one, *other]):
            where, key, _ = one.get(at) or other[at]
            before = where.get(key, MISSING)
            values = (one[at][2] if at in one else before, other[at][2] if at in other else before)
            joined = join(*values)
            if joined is not MISSING:
                self.put(where, key, self.caused(where, key, joined, why))

    def caused(self, where: dict[Any, Value], key: Any, value: Value, why: tuple[Origin, ...]) -> Value:
        """What stands at a place after ways that part for want of what `why` names."""
        if isinstance(value, Sequence):
            self.causes[id(where), key] = why
        return uncertain(value, why or ((Origin(key),) if isinstance(value, OneOf) else ()))


def uncertain(value: Value, why: tuple[Origin, ...]) -> Value:
    """What is known of a value after ways that part for want of what `why` names: one of several numbers is none."""
    why = tuple(replace(each, decides=True) for each in why)
    if isinstance(value, Unknown) and why:
        before = value.origins if isinstance(value, Open) else ()
        return Open(value.why, tuple(dict.fromkeys((*before, *why))))
    if isinstance(value, OneOf) and why and all(isinstance(constant(each), int) for each in value.options):
        return Open("one of several numbers", why)
    return value
