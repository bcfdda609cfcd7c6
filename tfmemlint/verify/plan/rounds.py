"""How many rounds the loops of a program run."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.verify.plan.slicing import Home

ROUNDS, ROUNDS_OUTSIDE, ROUNDS_OF_LIGHT = 50, 8, 2000
"""Of a loop, of one around other loops or trainings, and of one that does next to nothing: what it makes is to fit the
rows that it goes through, as the labels of a table."""

TRAINS = ("fit", "fit_generator", "train_on_batch", "evaluate")
LIGHT = frozenset({
    "add", "append", "count", "decode", "encode", "endswith", "extend", "find", "format", "get", "index", "insert",
    "items", "join", "keys", "lower", "pop", "replace", "split", "startswith", "strip", "update", "upper", "values",
})  # fmt: skip
"""Methods of texts and containers."""

HEAVY = frozenset({"compile", "eval", "exec", "input", "open", "__import__"})
"""Functions of Python itself that may do anything."""


def limit(file: Home, loop: cst.For | cst.While, around: Node | None) -> int:
    """How many rounds a loop runs; `around` is the one in which the flagged place stands: its rounds are looked at."""
    if _has_loop_inside(file, loop):
        return ROUNDS_OUTSIDE
    if loop is around or isinstance(loop, cst.While):
        return ROUNDS
    return ROUNDS_OF_LIGHT if all(map(_is_light, walk(loop.body, cst.Call))) else ROUNDS


def _has_loop_inside(file: Home, loop: cst.For | cst.While) -> bool:
    inside: list[Node] = [call for word in TRAINS for call in file.calls_by_word.get(word, ())]
    inside += (*file.tree.of(cst.For), *file.tree.of(cst.While))
    return any(any(above is loop for above in file.tree.ancestors(node)) for node in inside)


def _is_light(call: cst.Call) -> bool:
    if isinstance(call.func, cst.Attribute):
        return call.func.attr.value in LIGHT
    return isinstance(call.func, cst.Name) and hasattr(builtins, call.func.value) and call.func.value not in HEAVY
