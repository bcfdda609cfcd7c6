"""Steps by the names that a user knows them by: the function around them, and the model that they train or ask."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from tfmemlint.estimate.step import TrainingStep
    from tfmemlint.model.file import File


def named(file: File, steps: Sequence[TrainingStep], function: str | None, model: str | None) -> list[TrainingStep]:
    """The steps that stand in the function of this name, and of the model of that one; None stands for all."""
    return [
        step
        for step in steps
        if (function is None or any(each.name.value == function for each in _around(file, step, cst.FunctionDef)))
        and (model is None or _is_of(file, step, model))
    ]


def _is_of(file: File, step: TrainingStep, name: str) -> bool:
    """Whether the call of a step names a model, or the loop or function around it does."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    if word.search(step.call.partition("(")[0]) or word.search(step.model):
        return True
    calls = any(step.call.startswith(start) for start in ("for ", "while "))
    return calls and any(word.search(file.text(each)) for each in _around(file, step, cst.For, cst.While))


def _around(file: File, step: TrainingStep, *kinds: type[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """The definitions or loops around the line of a step, in its own file."""
    starts = file.source.line_starts
    if not 0 < step.line <= len(starts):
        return
    text, start = file.source.text, starts[step.line - 1]
    while text[start : start + 1] in (" ", "\t"):
        start += 1
    for node in file.tree.of(*kinds):
        begin, end = file.spans[node]
        if begin <= start < end:
            yield node
