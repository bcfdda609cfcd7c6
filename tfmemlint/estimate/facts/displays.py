"""Lists, tuples and dictionaries that are written out, and comprehensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.known import element_of, items, truth
from tfmemlint.estimate.facts.values import Env, Listed, Loop, plain
from tfmemlint.model.values import Iterator, Mapping, Sequence, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

MOST_WORK = 10_000
"""Expressions of a comprehension beyond which not all of its items are followed."""

MOST_ITEMS = 2000
"""Items up to which comprehensions and loops are followed one by one."""


def display(machine: Machine, node: Any, env: Env) -> Value:
    """A list, tuple or set that is written out."""
    found: list[Value] = []
    open_ = False
    for element in node.elements:
        item = machine.value(element.value, env)
        if isinstance(element, cst.StarredElement):
            several = items(item)
            found += several or ()
            open_ = open_ or several is None
        else:
            found.append(item)
    if isinstance(node, cst.Tuple):
        return Sequence(tuple(found), "tuple", open_)
    return objects.new_list(Sequence(tuple(found), "list", open_))


def dictionary(machine: Machine, node: cst.Dict, env: Env) -> Value:
    """A dictionary that is written out."""
    found: dict[object, Value] = {}
    open_ = False
    for element in node.elements:
        item = machine.value(element.value, env)
        key = constant(machine.value(element.key, env)) if isinstance(element, cst.DictElement) else None
        if isinstance(element, cst.DictElement) and key is not None:
            found[key] = item
        elif isinstance(item, Listed) and isinstance(item.items, Mapping):
            found.update(item.items.items)
        else:
            open_ = True
    return Listed({"items": Mapping(tuple(found.items()), open_)})


def comprehension(machine: Machine, node: Any, env: Env) -> Value:
    """A comprehension, item by item where its items are known."""
    found: list[Value] = []
    inner = Env(env)
    known = _turns(machine, node.for_in, inner, lambda: found.append(_element(machine, node, inner)))
    if isinstance(node, cst.DictComp):
        pairs = [each.items for each in found if isinstance(each, Sequence)]
        keys = [constant(pair[0]) for pair in pairs]
        return Listed({"items": Mapping(tuple(zip(keys, (p[1] for p in pairs), strict=True)), not known)})
    if not known:
        source = machine.value(node.for_in.iter, env)
        return Iterator(plain(source), plain(found[0]) if found else Unknown("an item"), "comprehension")
    made = Sequence(tuple(found), "list")
    return Loop(made.items) if isinstance(node, cst.GeneratorExp) else objects.new_list(made)


def _element(machine: Machine, node: Any, env: Env) -> Value:
    if isinstance(node, cst.DictComp):
        return Sequence((machine.value(node.key, env), machine.value(node.value, env)))
    return machine.value(node.elt, env)


def _turns(machine: Machine, clause: cst.CompFor, env: Env, run: Callable[[], None]) -> bool:
    """Run each turn of a comprehension's loops; False where not all of them are known, then one stands for all."""
    over = machine.value(clause.iter, env)
    turns = items(over)
    known = turns is not None and len(turns) <= MOST_ITEMS
    start = machine.work
    for item in (turns or ()) if known else (element_of(over),):
        if machine.work - start > MOST_WORK:
            return False
        machine.assign(clause.target, item, env)
        tests = [truth(machine.value(each.test, env)) for each in clause.ifs]
        known = known and None not in tests
        if False in tests:
            continue
        if clause.inner_for_in is not None:
            known = _turns(machine, clause.inner_for_in, env, run) and known
        else:
            run()
    return known
