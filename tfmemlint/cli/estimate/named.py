"""Steps by the names that a user knows them by: the function around them, and the model that they train or ask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import libcst as cst

if TYPE_CHECKING:
    from tfmemlint.estimate.step import TrainingStep
    from tfmemlint.model.file import File

Node = TypeVar("Node", bound=cst.CSTNode)


def named(file: File, steps: Sequence[TrainingStep], function: str | None, model: str | None) -> list[TrainingStep]:
    """The steps that stand in the function of this name, and of the model of that one; None stands for all."""
    return [
        step
        for step in steps
        if (function is None or function in _functions(file, step))
        and (model is None or _is_of(file, step, model))
    ]


def _is_of(file: File, step: TrainingStep, name: str) -> bool:
    """Whether the call of a step names a model, or the loop or function around it does."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    if word.search(step.call.partition("(")[0]) or word.search(step.model):
        return True
    loops = (*file.tree.of(cst.For), *file.tree.of(cst.While)) if step.call.startswith(("for ", "while ")) else ()
    return any(word.search(file.text(each)) for each in _around(file, step, loops))


def _functions(file: File, step: TrainingStep) -> set[str]:
    """The names of the functions in which a step stands."""
    return {each.name.value for each in _around(file, step, file.tree.of(cst.FunctionDef))}


def _around(file: File, step: TrainingStep, nodes: Iterable[Node]) -> Iterator[Node]:
    """Those of the nodes that hold the line of a step, in its own file."""
    starts = file.source.line_starts
    if not 0 < step.line <= len(starts):
        return
    text, start = file.source.text, starts[step.line - 1]
    while text[start : start + 1] in (" ", "\t"):
        start += 1
    for node in nodes:
        begin, end = file.spans[node]
        if begin <= start < end:
            yield node
