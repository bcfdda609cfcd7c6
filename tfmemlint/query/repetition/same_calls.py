"""Whether what runs a call again runs it the same each time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const
from tfmemlint.query.ordering.once import runs_always
from tfmemlint.query.repetition.repeats import Repetition
from tfmemlint.syntax.names import is_variable, variables
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def same_arguments(file: File, call: Call, found: Repetition) -> bool:
    """Whether each iteration certainly runs a call, with arguments that name nothing which is bound anew each time.

    Where its function is called again, nothing that the function binds counts as the same, but for constants and the
    object whose method it is: its attributes are taken for settings, if the iterations call it of one object. Values
    that change in place, and files whose content does, are not seen.
    """
    home = file.contexts.function(call.node)
    bound = found.bound
    if isinstance(home, cst.FunctionDef) and (found.calls or found.handler):
        own = {p.name.value for p in list(parameters(home))[:1]} if file.class_of(home) else set()
        bound = set(file.flow(home).bindings) - own
    read = (n for arg in call.node.args for n in walk(arg.value, cst.Name) if is_variable(file, n))
    if any(n.value in bound and not isinstance(file.value(n), Const) for n in read):
        return False
    return runs_always(file, found) and _of_one_object(file, found)


def _of_one_object(file: File, found: Repetition) -> bool:
    """Whether the method that the iterations call is not that of another object each time."""
    called = found.inside.func if found.calls and isinstance(found.inside, cst.Call) else None
    return not isinstance(called, cst.Attribute) or not variables(file, called.value) & found.bound
