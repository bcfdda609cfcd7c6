"""Which parameters of its function a value is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.names import variables
from tfmemlint.syntax.scopes import Binds

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def parameters_behind(file: File, expression: cst.BaseExpression) -> list[str]:
    """The parameters of its function that an expression may depend on, by the names in it or in whatever those names
    are given anywhere in the function, each once. What mutates an object is not seen."""
    bindings = file.flow(file.scope_of(expression)).bindings
    found, waiting, seen = [], sorted(variables(file, expression)), set[str]()
    while waiting:
        name = waiting.pop()
        for each in bindings.get(name, ()) if name not in seen else ():
            if each.binds is Binds.PARAMETER:
                found.append(name)
            elif isinstance(each.value, cst.BaseExpression):
                waiting += sorted(variables(file, each.value))
        seen.add(name)
    return found
