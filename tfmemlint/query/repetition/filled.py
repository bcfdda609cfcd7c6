"""Dictionaries that code fills key by key: how many items they have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const, Function
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import Binds, Definition

if TYPE_CHECKING:
    from tfmemlint.model.file import File

READS = frozenset({"items", "values", "keys", "get", "copy"})
"""Methods that leave a dictionary as it is."""

ASKS = frozenset({"len", "print", "list", "sorted", "enumerate", "zip", "tuple", "set", "str"})
"""Functions that leave a dictionary as it is, which they are given."""


def filled_items(file: File, expression: cst.BaseExpression) -> int | None:
    """The most items of a dictionary that begins with a display and is filled by constant keys alone, `found["a"] = 1`,
    here or in a function that returns it. None where anything else may put something into it."""
    keys = _keys(file, expression, FOLLOWED_CALLS)
    return len(keys) if keys is not None else None


def _keys(file: File, node: cst.BaseExpression, left: int) -> set[object] | None:
    if isinstance(node, cst.Name):
        made = file.only_definition(node)
        if made is None or made.binds is not Binds.VALUE or made.path or not isinstance(made.value, cst.BaseExpression):
            return None
        first, more = _keys(file, made.value, left), _put(file, made)
        return first | more if first is not None and more is not None else None
    if isinstance(node, cst.Dict):
        known = [_key(file, each.key) for each in node.elements if isinstance(each, cst.DictElement)]
        return set(known) if len(known) == len(node.elements) and None not in known else None
    target = file.call(node).target if isinstance(node, cst.Call) and left else None
    if not isinstance(target, Function) or not isinstance(target.node, cst.FunctionDef):
        return None
    returned = [each.value for each in file.returns(target.node)]
    only = returned[0] if len(returned) == 1 else None
    return _keys(file, only, left - 1) if isinstance(only, (cst.Name, cst.Dict)) else None


def _key(file: File, node: cst.BaseExpression) -> Const | None:
    value = file.value(node)
    return value if isinstance(value, Const) else None


def _put(file: File, made: Definition) -> set[object] | None:
    """The keys that are put into what a name is bound to, by whatever code names it; None where one is not known, or
    the dictionary is given away or changed in another way."""
    found: set[object] = set()
    for use in file.home(made.node).places(made.name).bound_in(made.scope):
        above = file.tree.parent(use)
        if isinstance(above, cst.Subscript) and above.value is use:
            if isinstance(file.tree.parent(above), (cst.AssignTarget, cst.AugAssign)):
                index = above.slice[0].slice
                key = _key(file, index.value) if isinstance(index, cst.Index) else None
                if key is None:
                    return None
                found.add(key)
        elif isinstance(above, cst.Attribute) and above.value is use:
            if above.attr.value not in READS:
                return None
        elif isinstance(above, cst.Arg):
            call = file.tree.parent(above)
            if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or call.func.value not in ASKS:
                return None
        elif not isinstance(above, (cst.Return, cst.For, cst.CompFor, cst.ComparisonTarget)):
            return None
    return found
