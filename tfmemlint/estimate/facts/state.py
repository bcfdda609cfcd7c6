"""What a program that is followed has written, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfmemlint.estimate.facts.values import MISSING, join
from tfmemlint.model.values import Value

Changes = dict[tuple[int, Any], tuple[dict[Any, Value], Any, Value]]
"""What one way wrote: by place and key where, under which key and what."""

Outcome = tuple[str, Value] | None
"""How a block ends, where it does not run to its end: "return" (with what), "break", "continue" or "raise"."""


class State:
    """All writes to variables, attributes and lists."""

    def __init__(self) -> None:
        self._journal: list[tuple[dict[Any, Value], Any, Value]] = []
        self._branches = 0

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
            changes: Changes = {
                (id(where), key): (where, key, where.get(key, MISSING)) for where, key, _ in written
            }
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

    def merge(self, one: Changes, other: Changes) -> None:
        """Write what is known after either of two ways."""
        for at in dict.fromkeys([*one, *other]):
            where, key, _ = one.get(at) or other[at]
            before = where.get(key, MISSING)
            values = (one[at][2] if at in one else before, other[at][2] if at in other else before)
            joined = join(*values)
            if joined is not MISSING:
                self.put(where, key, joined)
