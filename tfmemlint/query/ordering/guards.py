"""Conditions that let code run the first time only, and those that hold again in each call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api, Const, Instance
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.names import is_variable
from tfmemlint.syntax.scopes import Binds, Definition, dotted, parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

CONSTANTS = frozenset({"None", "True", "False"})


def guarded(file: File, node: Node, function: cst.FunctionDef) -> bool:
    """Whether a condition may let code in a function run the first time only: around it, in a handler, or by leaving
    the function before.

    False only where all conditions certainly ask for what each call is given, or for settings of the object: the
    function's arguments and what it makes of them, and attributes that `__init__` alone sets, not to None.
    """
    if any(_guards(file, each, function) for each in conditions(file, node, function)):
        return True
    below: Node = node
    for above in file.tree.ancestors(node):
        if above is function:
            break
        if isinstance(above, cst.IndentedBlock):
            for branch in _leaving(file, above):
                if file.tree.order(branch) >= file.tree.order(below):
                    break
                if _guards(file, branch, function):
                    return True
        below = above
    return False


@once_per_file
def _leaving(file: File, block: cst.IndentedBlock) -> list[cst.If]:
    """The statements of a block that may leave the function under a condition."""
    return [each for each in block.body if isinstance(each, cst.If) and any(walk(each.body, cst.Return))]


def _guards(file: File, condition: Node, function: cst.FunctionDef) -> bool:
    if isinstance(condition, (cst.Try, cst.TryStar)):
        return False  # its body runs each time; handlers are conditions of their own
    if not isinstance(condition, (cst.If, cst.IfExp)):
        return True
    changed = {dotted(each.target) for each in walk(condition, cst.AssignTarget)}
    return not _OfEachCall(file, function, changed).asks(condition.test)


class _OfEachCall:
    """Whether expressions read only what each call is given and settings of the object, and nothing of what the code
    behind a condition changes."""

    def __init__(self, file: File, function: cst.FunctionDef, changed: set[str | None]) -> None:
        self._file, self._function, self._changed = file, function, changed
        self._asked: set[str] = set()
        given = [param.name.value for param in parameters(function)]
        self._own = given[0] if given and file.class_of(function) is not None else None

    def asks(self, code: cst.BaseExpression) -> bool:
        """Whether an expression reads something, and only that."""
        if any(self._asks_elsewhere(node) for node in walk(code, cst.Call)):
            return False
        read = [name for name in walk(code, cst.Name) if is_variable(self._file, name) and not self._fixed(name)]
        return bool(read) and all(map(self._given, read))

    def _asks_elsewhere(self, node: cst.Call) -> bool:
        """Whether a call that is given nothing may ask for a state that is not seen: `tf.executing_eagerly()`."""
        return not node.args and not knowledge.is_class(self._file.call(node).name or "")

    def _fixed(self, name: cst.Name) -> bool:
        if name.value in CONSTANTS or isinstance(self._file.value(name), Api):
            return True
        return self._file.written(name) is not name and isinstance(self._file.value(name), Const)

    def _given(self, name: cst.Name) -> bool:
        if name.value == self._own:
            of = self._file.tree.parent(name)
            return isinstance(of, cst.Attribute) and dotted(of) not in self._changed and _is_setting(self._file, of)
        bindings = self._file.flow(self._function).bindings.get(name.value, ())
        if name.value in self._asked:
            return True
        self._asked.add(name.value)
        return bool(bindings) and all(map(self._defined, bindings))

    def _defined(self, d: Definition) -> bool:
        if d.binds is Binds.PARAMETER:  # `if v is None: v = make()` makes what callers left out
            return d.name not in self._changed or getattr(d.value, "default", None) is None
        return isinstance(d.value, cst.BaseExpression) and self.asks(d.value)


def _is_setting(file: File, attribute: cst.Attribute) -> bool:
    """Whether an attribute of `self` certainly only gets its value in `__init__`: what it is told, or a constant, but
    not None, which something else comes to replace."""
    assigned = file.assigned_paths.get(dotted(attribute) or "", ())
    homes = [file.contexts.function(assign) for assign in assigned]
    if not assigned or not all(isinstance(home, cst.FunctionDef) and home.name.value == "__init__" for home in homes):
        return False
    values = [file.value(assign.value) for assign in assigned]
    return not any(Const(None) in value.options or isinstance(value, Instance) for value in values)
