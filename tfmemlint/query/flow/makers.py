"""The calls that make an object, and the functions that are there to make one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Instance, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node


def makers(value: Value) -> list[Call]:
    """The calls that make an object, one for each of its alternatives, as far as they are seen: fewer than there are
    alternatives where one of them is no object, or is made nobody knows where; none where it may be anything."""
    made = (option.call for option in value.options if isinstance(option, Instance))
    return [call for call in made if call is not None]


def only_gives_back(file: File, made: Node) -> bool:
    """Whether the function around an expression is there to make its value: each of its `return` statements gives the
    expression itself back. False at the top level, in lambdas, and where the value has a name first."""
    home = file.contexts.function(made)
    returns = file.returns(home) if isinstance(home, cst.FunctionDef) else []
    return bool(returns) and all(each.value is made for each in returns)
