"""Functions whose code runs for each step of training or inference."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.query.facts import TRACES, Fact
from tfmemlint.query.ordering.conditions import entered_by_choice
from tfmemlint.query.repetition.repeats import repeats
from tfmemlint.syntax.scopes import own_nodes

if TYPE_CHECKING:
    from tfmemlint.model.file import File

CALLS = frozenset({"call", "__call__"})
ONCE = frozenset({"build", "__init__", "setup"})
"""Functions that run once even where they are traced."""


class Runs(enum.Enum):
    """Why a function's code runs for each step."""

    TRACED = "it is traced"
    CALL = "it is what a layer or model does with its inputs"
    STEP = "it records a tape, and a loop calls it"


@dataclass(frozen=True, slots=True)
class StepFunction:
    """A function whose code runs for each step, and why."""

    function: cst.FunctionDef
    runs: Runs


def _step_functions(file: File) -> Iterator[StepFunction]:
    for function in file.tree.of(cst.FunctionDef):
        runs = _runs(file, function)
        if runs is not None:
            yield StepFunction(function, runs)


def _runs(file: File, function: cst.FunctionDef) -> Runs | None:
    owner, name = file.class_of(function), function.name.value
    if owner is not None and name in CALLS and file.values.classes.derives(owner, "tf.keras.layers.Layer"):
        return Runs.CALL
    first = function.body.body[0] if function.body.body else None
    if first is not None and file.contexts.traced(first) and not file.contexts.mapped(first):
        return None if name in ONCE or entered_by_choice(file, function) else Runs.TRACED
    if id(function) not in _with_tapes(file) or any(own_nodes(function, cst.For, cst.While)):
        return None
    callers = file.call_graph.callers(function) or ()
    return Runs.STEP if any(repeats(file, call.node, calls=0) for call in callers) else None


@once_per_file
def _with_tapes(file: File) -> set[int]:
    """The functions (by id) that record a tape."""
    return {id(file.contexts.function(tape.node)) for tape in file.calls("tf.GradientTape")}


step_functions = Fact(_step_functions, *TRACES, "__call__", "tf.GradientTape")
"""Each function whose code certainly runs for each step, of the eager ones those that have no loop of their own; not
one that `Dataset.map` runs for each element, nor one that is only reached through an `if`."""
