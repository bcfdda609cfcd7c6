"""Imports: names of libraries, and the modules of the project, which are followed when they are imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts.values import Env
from tfmemlint.model.imports import gives, named
from tfmemlint.model.values import Api, Module, Unknown, Value
from tfmemlint.syntax.scopes import Binds, Definition

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine
    from tfmemlint.syntax.program import Program


def follow(machine: Machine, statement: cst.Import | cst.ImportFrom, env: Env) -> None:
    """Follow an import."""
    if isinstance(statement.names, cst.ImportStar):
        _star(machine, statement, env)
        return
    for alias in statement.names:
        definition = _definition(machine, alias)
        if definition is not None:
            value = _value(machine, definition)
            machine.put(env.outer.get(definition.name, env).names, definition.name, value)


def _definition(machine: Machine, alias: cst.ImportAlias) -> Definition | None:
    flow = machine.file.flow(machine.file.scope_of(alias))
    asname = alias.asname.name if alias.asname is not None else None
    name = asname.value if isinstance(asname, cst.Name) else _first(alias.name)
    found = (each for each in flow.bindings.get(name, ()) if each.binds is Binds.IMPORT and each.node is alias)
    return next(found, None)


def _first(name: cst.BaseExpression) -> str:
    while isinstance(name, cst.Attribute):
        name = name.value
    return name.value if isinstance(name, cst.Name) else ""


def _value(machine: Machine, definition: Definition) -> Value:
    led = machine.evaluator.imports.leads_to(definition)
    if led is None:
        return named(definition.api)
    found, rest = led
    value: Value = Module(definition.api.strip("."), found.path, found.folder)
    if not rest:
        module_of(machine, found.path)
    for part in rest:
        value = attribute(machine, value, part) if isinstance(value, Api) else Unknown(f"{part} of something else")
    return value


def _star(machine: Machine, statement: cst.ImportFrom, env: Env) -> None:
    """`from module import *`, of a module of the project; names of libraries are found when they are read."""
    for program in machine.evaluator.imports.runs(statement)[-1:]:
        if program is machine.file:
            continue
        inner = _followed(machine, program)
        for name, value in list(inner.names.items()):
            if gives(program, name):
                machine.put(env.names, name, value)


def attribute(machine: Machine, base: Api, name: str) -> Value:
    """`base.name` of a module or class of a library, or of a module of the project."""
    if not isinstance(base, Module):
        return named(f"{base.name}.{name}")
    env = module_of(machine, base.path)
    if env is not None and name in env.names:
        return env.names[name]
    found = machine.evaluator.imports.attribute(base, name)
    return found if isinstance(found, Api) else Unknown(f"{name} of {base.name}")


def module_of(machine: Machine, path: str | None) -> Env | None:
    """The variables of a module of the project, which is followed at the first time."""
    program = machine.file.link(path) if path is not None else None
    return _followed(machine, program) if program is not None else None


def _followed(machine: Machine, program: Program) -> Env:
    env = machine.modules.get(id(program))
    if env is None:
        env = machine.modules[id(program)] = Env()
        machine.run_module(program.module, env, "module")
    return env
