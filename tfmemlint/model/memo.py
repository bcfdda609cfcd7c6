"""Values computed on demand and remembered, also where a value depends on itself.

Such a value (a loop's) is computed twice: first from the values that enter the loop, then assuming that result; if both
agree it stands, else it is widened (arrays keep what agrees, anything else is Unknown). Work is bounded by a budget;
when it is spent, everything not yet known is Unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tfmemlint.model.value import BOTTOM, HEAVIEST, Unknown, Value
from tfmemlint.model.widening import widen

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

BUDGET_PER_NODE = 6
BUDGET_BASE = 20_000
DEEPEST = 100
"""Nested evaluations before an answer is Unknown; keeps Python's own stack out of the question."""

MOST_TRIES = 5
"""Evaluations of one expression inside loops of dependence that are still open, before it is given up."""

WEIGHT_BITS = 5
"""Looking at a value is one evaluation more for each 32 of its weight."""

_NEVER = 1 << 30
"""Deeper than any evaluation: nothing that is being computed was asked for."""

Answer = TypeVar("Answer")

Key = tuple[int, int]
"""The ids of a node or definition and of the frame in which it is looked at."""


class Memory:
    """What is known of a file with this many nodes; `spent` of `budget` evaluations are used up."""

    def __init__(self, nodes: int) -> None:
        self.budget = BUDGET_BASE + BUDGET_PER_NODE * nodes
        self.spent = 0
        self._values: dict[Key, Value] = {}
        self._calls: dict[Key, Call] = {}
        self._running: dict[Key, tuple[int, Value]] = {}
        self._tries: dict[Key, int] = {}
        self._lowest = _NEVER  # the depth of the outermost value in the making that was asked for since this one began

    def once(self, key: Key, compute: Callable[[], Value]) -> Value:
        """The remembered value of `key`, computed at most twice where it depends on itself."""
        known = self._values.get(key)
        if known is not None:
            return known
        running = self._running.get(key)
        if running is not None:
            self._lowest = min(self._lowest, running[0])
            return running[1]
        depth = len(self._running)
        if self.spent >= self.budget:
            return Unknown("the file's evaluation budget is spent")
        if depth >= DEEPEST:
            return Unknown("nested too deeply")
        outer, self._lowest = self._lowest, _NEVER
        self.spent += 1
        self._running[key] = (depth, BOTTOM)
        try:
            result = self._weighed(compute())
            if self._lowest == depth:
                self._running[key] = (depth, result)
                result = widen(result, self._weighed(compute()))
        except Exception as error:
            if depth:
                raise
            self._running.clear()  # the next rule that asks finds nothing half done
            self._lowest = outer
            if not isinstance(error, RecursionError):
                raise
            return Unknown("nested too deeply for Python's stack")  # the rule may stand deep in a stack of its own
        del self._running[key]
        if self._lowest >= depth:
            self._values[key] = result
            self._lowest = outer
        else:
            self._lowest = min(outer, self._lowest)
            tries = self._tries[key] = self._tries.get(key, 0) + 1
            if tries >= MOST_TRIES:
                self._values[key] = Unknown("depends on itself in too many ways")
        return result

    def _weighed(self, value: Value) -> Value:
        """The value, unless it is too large to be followed; what it takes to walk over a large one is spent."""
        weight = value.weight
        if weight > HEAVIEST:
            return Unknown("too large a value")
        self.spent += weight >> WEIGHT_BITS
        return value

    @property
    def computing(self) -> bool:
        """Whether a value is being computed right now."""
        return bool(self._running)

    def settled(self, compute: Callable[[], Answer]) -> tuple[Answer, bool]:
        """A result, and whether it stands: nothing was asked for on the way to it that is still being computed."""
        outer, self._lowest = self._lowest, _NEVER
        result = compute()
        stands = self._lowest == _NEVER
        self._lowest = min(outer, self._lowest)
        return result, stands

    def anew(self, state: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
        """Forget all values, or remember those of `state` again; gives what was known until now."""
        known = self._values, self._calls, self._running, self._tries, self._lowest
        self._values, self._calls, self._running, self._tries, self._lowest = state or ({}, {}, {}, {}, _NEVER)
        return known
