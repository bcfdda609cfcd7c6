"""Which of several modules takes what a function of yet another one makes: one place to change, one finding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Dataset, Value
from tfmemlint.query.pipelines.chains import last_call

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.program import Program
    from tfmemlint.syntax.tree import Node

TAKE = ("fit", "evaluate", "predict")
"""Methods of models that take data, the one that trains first."""

DATA = frozenset({"x", "y", "validation_data", "generator"})


def taken_earlier(file: File, made: Node) -> bool:
    """Whether another module than this file is certainly given what a function of a third module makes at `made`, an
    array or the end of a pipeline, for `fit` and its like or a loop, and comes before this file: modules that train
    come before those that only ask a model, and else by their names.

    False where `made` stands in this file, or in no function, and where no other module is seen to take it.
    """
    home, function = file.home(made), file.contexts.function(made)
    path = getattr(home, "path", None)
    if home is file or path is None or file.siblings is None or not isinstance(function, cst.FunctionDef):
        return False
    own = _rank(file, file, made)
    here = len(TAKE) if own is None else own, file.siblings.path
    for other in file.siblings.importers((function.name.value,), in_tests=False, of=path):
        program = file.link(other) if other != file.siblings.path else None
        rank = _rank(file, program, made) if program is not None else None
        if rank is not None and (rank, other) < here:
            return True
    return False


def ends_for_another(file: File, ds: Dataset) -> bool:
    """Whether a pipeline ends in a function of another module, from which yet another one takes it before this file."""
    last = last_call(file, ds)
    return last is not None and taken_earlier(file, last.node)


def _rank(file: File, program: Program, made: Node) -> int | None:
    """How a module takes what is made: the place of the method in TAKE, 0 for a loop; None where it is not seen to."""
    for rank, method in enumerate(TAKE):
        given = (value for node in program.calls_by_word.get(method, ()) for value in _given(file, node))
        if any(_is_of(file, value, made) for value in given):
            return rank
        loops = program.tree.of(cst.For) if rank == 0 else ()
        if any(_is_of(file, file.value(loop.iter), made) for loop in loops):
            return rank
    return None


def _given(file: File, node: cst.Call) -> Iterator[Value]:
    for place, arg in enumerate(node.args):
        if arg.keyword.value in DATA if arg.keyword is not None else place < len(DATA):
            yield from elements(file.value(arg.value))


def _is_of(file: File, value: Value, made: Node) -> bool:
    """Whether a value may be the array that is made there, or a pipeline that ends there."""
    for option in value.options:
        last = last_call(file, option) if isinstance(option, Dataset) else None
        last = option.origin if isinstance(option, Array) else last
        if last is not None and last.node is made:
            return True
    return False
