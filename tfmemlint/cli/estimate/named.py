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
    """The steps that run in the function of this name, and of the model of that one; None stands for all."""
    return [
        step
        for step in steps
        if (function is None or function in _functions(file, step)) and (model is None or _is_of(file, step, model))
    ]


def _functions(file: File, step: TrainingStep) -> set[str]:
    """The names of the functions in which a step stands, or which its loop calls."""
    around = {each.name.value for each in _around(file, step, file.tree.of(cst.FunctionDef))}
    return around | {each.name.value for each in _called(file, step)}


def _is_of(file: File, step: TrainingStep, name: str) -> bool:
    """Whether the call of a step names a model, or its loop or a function that the loop calls does."""
    word = re.compile(rf"\b{re.escape(name)}\b")
    if word.search(step.call.partition("(")[0]) or word.search(step.model):
        return True
    return any(word.search(file.text(each)) for each in (*_loops(file, step), *_called(file, step)))


def _loops(file: File, step: TrainingStep) -> list[cst.For | cst.While]:
    """The loops of a step that is a loop of the program's own."""
    if not step.call.startswith(("for ", "while ")):
        return []
    return list(_around(file, step, [*file.tree.of(cst.For), *file.tree.of(cst.While)]))


def _called(file: File, step: TrainingStep) -> list[cst.FunctionDef]:
    """The functions of the file that the loops of a step call by name."""
    words = {word for loop in _loops(file, step) for word in re.findall(r"(\w+)\(", file.text(loop))}
    return [each for each in file.tree.of(cst.FunctionDef) if each.name.value in words]


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
