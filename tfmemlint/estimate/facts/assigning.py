"""Assignments, and the definitions of functions and classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import expressions, known, objects, origins
from tfmemlint.estimate.facts.values import Closure, Env, Held, Kind, Listed, Object
from tfmemlint.model.values import Api, Const, Sequence, Unknown, Value, constant

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

TRACES = "tf.function"


def follow(machine: Machine, statement: cst.CSTNode, env: Env) -> None:
    """Follow a small statement that gives names or items their values."""
    if isinstance(statement, cst.Assign):
        value = machine.value(statement.value, env)
        for each in statement.targets:
            assign(machine, each.target, value, env)
    elif isinstance(statement, cst.AnnAssign) and statement.value is not None:
        assign(machine, statement.target, machine.value(statement.value, env), env)
    elif isinstance(statement, cst.AugAssign):
        _augmented(machine, statement, env)
    elif isinstance(statement, (cst.Global, cst.Nonlocal)):
        for item in statement.names:
            name = item.name.value
            around = env.around
            home = env.module if isinstance(statement, cst.Global) else around.home(name) if around else None
            if home is not None:
                env.outer[name] = home
    elif isinstance(statement, cst.Del):
        _delete(machine, statement.target, env)


def _delete(machine: Machine, target: cst.BaseExpression, env: Env) -> None:
    for each in [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]:
        if isinstance(each, cst.Name):
            machine.put(env.names, each.value, Unknown("deleted"))


def _augmented(machine: Machine, statement: cst.AugAssign, env: Env) -> None:
    name = type(statement.operator).__name__.removesuffix("Assign")
    before, added = machine.value(statement.target, env), machine.value(statement.value, env)
    if isinstance(before, Listed) and name == "Add":
        objects.extend(machine, before, added)
        return
    after = expressions.binary(machine, name, before, added, statement)
    assign(machine, statement.target, after, env)


def assign(machine: Machine, target: cst.CSTNode, value: Value, env: Env) -> None:
    """Give a target its value: a name, an attribute, an item, or several of them."""
    if isinstance(target, (cst.Name, cst.Attribute)):
        value = origins.named(machine, target, value)
    if isinstance(target, cst.Name):
        machine.put(env.outer.get(target.value, env).names, target.value, value)
    elif isinstance(target, (cst.Tuple, cst.List)):
        _unpack(machine, target, value, env)
    elif isinstance(target, cst.Attribute):
        owner = machine.value(target.value, env)
        if isinstance(owner, Object):
            objects.set_attribute(machine, owner, target.attr.value, value)
        elif isinstance(owner, Kind):
            machine.put(owner.env.names, target.attr.value, value)
    elif isinstance(target, cst.Subscript):
        owner = machine.value(target.value, env)
        if isinstance(owner, Listed):
            key = expressions.index(machine, target, env)
            objects.set_item(machine, owner, key, value)
    elif isinstance(target, cst.StarredElement):
        assign(machine, target.value, value, env)


def _unpack(machine: Machine, target: cst.Tuple | cst.List, value: Value, env: Env) -> None:
    items = known.items(value)
    elements = target.elements
    starred = next((i for i, e in enumerate(elements) if isinstance(e, cst.StarredElement)), None)
    for place, element in enumerate(elements):
        if items is None:
            part = expressions.item_at(machine, value, Const(place)) if starred is None else Unknown("unpacked")
        elif starred is None or place < starred:
            part = items[place] if place < len(items) else Unknown("too few items")
        elif place == starred:
            behind = len(elements) - place - 1
            part = objects.new_list(Sequence(tuple(items[place : len(items) - behind]), "list"))
        else:
            part = items[place - len(elements)] if len(elements) - place <= len(items) else Unknown("too few items")
        assign(machine, element.value, part, env)


# -- functions and classes -------------------------------------------------------------------------------------------


def define_function(machine: Machine, node: cst.FunctionDef, env: Env) -> None:
    """Bind a `def`."""
    made: Value = Closure(node, env=env)
    for decorator in reversed(node.decorators):
        made = _decorated(machine, made, machine.value(decorator.decorator, env))
    machine.put(env.outer.get(node.name.value, env).names, node.name.value, made)


def _decorated(machine: Machine, made: Value, by: Value) -> Value:
    """What a decorator leaves of a function: of one that is not known the function itself is followed."""
    if not isinstance(made, Closure):
        return made
    name = by.name if isinstance(by, Api) else by.type_name if isinstance(by, Object) else None
    if name is None and isinstance(by, Held) and isinstance(by.of, Api):
        name = by.of.name
    if name == TRACES:
        jit = isinstance(by, Object) and by.call is not None and constant(by.call.given("jit_compile")) is True
        return Closure(made.node, traced=True, env=made.env, partial=made.partial, frame="jit" if jit else None)
    if name in ("builtins.property", "builtins.classmethod", "builtins.staticmethod", "functools.cached_property"):
        return Closure(made.node, traced=made.traced, env=made.env, frame=(name or "").rpartition(".")[2])
    return made


def define_class(machine: Machine, node: cst.ClassDef, env: Env) -> None:
    """Bind a `class`, after its body was followed."""
    inner = Env(env)
    above = tuple(machine.value(base.value, env) for base in node.bases if not base.star)
    made = Kind(node, env=inner, above=above)
    machine.suite(node.body, inner)
    for name, value in inner.names.items():
        if isinstance(value, Closure) and value.env is inner:
            inner.names[name] = Closure(
                value.node, traced=value.traced, env=env, frame=value.frame, partial=value.partial, owner=made
            )
    machine.put(env.outer.get(node.name.value, env).names, node.name.value, made)
