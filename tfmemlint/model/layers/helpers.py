"""The functions of a file that add layers to a `Sequential` which another scope made: they are given the model, or
read its variable from around them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Function
from tfmemlint.syntax.names import home_of
from tfmemlint.syntax.scopes import dotted, parameters

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.scopes import Definition

CHANGES = ("add", "pop")
"""The methods by which the layers of a `Sequential` change."""


def changed_by_functions(model: Call, made: Definition) -> Iterator[cst.Call]:
    """The calls in a model's own scope that may change its layers: of functions that do so, or that call such. `made`:
    the definition that gives the model its name."""
    file = model.evaluator.file
    reading = _Reading(file, made)
    pending = list(reading.functions())
    seen: set[tuple[int, bool]] = set()
    while pending:
        function, given = pending.pop()
        if (id(function), given) in seen:
            continue
        seen.add((id(function), given))
        for call in file.home(function).calls_by_word.get(function.name.value, ()):
            scope = file.scope_of(call)
            if scope is made.scope:
                if not given or reading.passed(call):
                    yield call
            elif isinstance(scope, cst.FunctionDef):
                if not given:
                    pending.append((scope, False))
                elif _passes_parameter(call, scope):
                    pending.append((scope, True))


def given_to_others(model: Call, made: Definition, before: int) -> Iterator[cst.Call]:
    """The calls that are given a model and may add layers to it, before some place in the order of the code: of what is
    neither a function of the file, which can be read, nor of a library that is known."""
    file = model.evaluator.file
    for name in takewhile(lambda use: file.tree.order(use) < before, file.uses_of(made)):
        arg = file.tree.parent(name)
        call = file.tree.parent(arg) if isinstance(arg, cst.Arg) else None
        if isinstance(call, cst.Call) and file.scope_of(call) is made.scope:
            done = model.evaluator.call(call, model.frame)
            in_file = any(isinstance(option, Function) for option in done.target.options)
            if not in_file and not (done.names and all(map(knowledge.exists, done.names))):
                yield call


class _Reading:
    """How other functions of a file get at one variable."""

    def __init__(self, file: File, made: Definition) -> None:
        self._file, self._made = file, made

    def functions(self) -> Iterator[tuple[cst.FunctionDef, bool]]:
        """The functions that change a model; True for those that change what they are given, False for those that
        change the variable itself."""
        for node in (each for word in CHANGES for each in self._file.home(self._made.node).calls_by_word.get(word, ())):
            scope = self._file.scope_of(node)
            receiver = node.func.value if isinstance(node.func, cst.Attribute) else None
            if receiver is None or scope is self._made.scope or not isinstance(scope, cst.FunctionDef):
                continue
            if isinstance(receiver, cst.Name) and _is_parameter(receiver.value, scope):
                yield scope, True
            elif dotted(receiver) == self._made.name and self._is_shared(receiver):
                yield scope, False

    def passed(self, call: cst.Call) -> bool:
        """Whether a call in the variable's scope is given the model."""
        uses = self._file.flow(self._made.scope).uses
        return any(self._made in uses.get(id(arg.value), ()) for arg in call.args)

    def _is_shared(self, receiver: cst.BaseExpression) -> bool:
        """Whether a name is bound in the scope of the model; an attribute of the same path is taken for the same."""
        return not isinstance(receiver, cst.Name) or home_of(self._file, receiver) is self._made.scope


def _passes_parameter(call: cst.Call, function: cst.FunctionDef) -> bool:
    return any(isinstance(arg.value, cst.Name) and _is_parameter(arg.value.value, function) for arg in call.args)


def _is_parameter(name: str, function: cst.FunctionDef) -> bool:
    return any(param.name.value == name for param in parameters(function))
