"""What a call passes, bound to the parameters of a function of the module as Python binds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Class, Function, Mapping, Sequence, Unknown, Value, one_of
from tfmemlint.syntax.scopes import positional

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator


@dataclass
class Given:
    """Arguments by position and by name; `open` says that `*` or `**` may pass more, `cut` more positions."""

    positions: list[Value | tuple[cst.BaseExpression, Call]] = field(default_factory=list)
    names: dict[str, Value | tuple[cst.BaseExpression, Call]] = field(default_factory=dict)
    open: bool = False
    cut: bool = False

    def add(self, call: Call, args: Iterable[cst.Arg]) -> None:
        """What these arguments of a call pass; unpacked ones are looked into."""
        for arg in args:
            if arg.star == "*":
                value = call.evaluator.value(arg.value, call.frame)
                if isinstance(value, Sequence) and not value.open:
                    self.positions += value.items
                else:
                    self.open = self.cut = True
            elif arg.star:
                value = call.evaluator.value(arg.value, call.frame)
                if isinstance(value, Mapping) and not value.open and all(isinstance(k, str) for k, _ in value.items):
                    self.names.update((str(key), item) for key, item in value.items)
                else:
                    self.open = True
            elif arg.keyword is not None:
                self.names[arg.keyword.value] = (arg.value, call)
            elif not self.cut:
                self.positions.append((arg.value, call))

    def value(self, param: cst.Param, function: cst.FunctionDef | cst.Lambda, evaluator: Evaluator) -> Value:
        """The value that a parameter of the function gets."""
        params, plain = function.params, positional(function)
        if param.star == "*":
            rest = self.positions[len(plain) :]
            return Sequence(tuple(map(_read, rest)), "tuple", open=self.cut)
        if param.star:
            own = {p.name.value for p in (*params.params, *params.kwonly_params)}
            return Mapping(
                tuple((name, _read(passed)) for name, passed in self.names.items() if name not in own), self.open
            )
        index = next((i for i, other in enumerate(plain) if other is param), None)
        if index is not None and index < len(self.positions):
            return _read(self.positions[index])
        if param.name.value in self.names:
            return _read(self.names[param.name.value])
        if self.open:
            return Unknown("passed by * or **")
        if param.default is not None:
            return evaluator.value(param.default, None)
        return Unknown(f"parameter {param.name.value} is not passed")

    def field(self, name: str, fields: list[str]) -> Value | None:
        """The value that a generated constructor with these fields gives one of them; None where it is not passed."""
        if name in self.names:
            return _read(self.names[name])
        index = fields.index(name) if name in fields else len(self.positions)
        if index < len(self.positions):
            return _read(self.positions[index])
        return Unknown("passed by * or **") if self.open else None


def _read(passed: Value | tuple[cst.BaseExpression, Call]) -> Value:
    if isinstance(passed, Value):
        return passed
    expression, call = passed
    return call.evaluator.value(expression, call.frame)


def given_by(call: Call, receiver: Value | None, partial: Call | None, values: tuple[Value, ...] | None) -> Given:
    """What reaches a function: its receiver, what `functools.partial` holds, then the call's own arguments.

    `values` are what a library passes that calls the function (`Dataset.map`), instead of the call's arguments.
    """
    given = Given()
    if receiver is not None:
        given.positions.append(receiver)
    if partial is not None:
        given.add(partial, partial.node.args[1:])
    if values is not None:
        given.positions += values
    else:
        given.add(call, call.node.args)
    return given


def given_at(call: Call, function: cst.FunctionDef | cst.Lambda) -> Given:
    """What a call passes to one of the functions that it may call."""
    for target in call.target.options:
        if isinstance(target, Function) and target.node is function:
            return given_by(call, target.receiver, target.partial, None)
        if isinstance(target, Class):
            return given_by(call, call.evaluator.classes.instance(target.node, call), None, None)
    return given_by(call, None, None, None)


def takes(call: Call, target: Function) -> bool:
    """Whether a call may run a function with what it passes: False where Python certainly raises a TypeError, as the
    function has no parameter for a keyword, or not for so many positions.

    True for methods, as `self` may be an object of a class that defines another, and behind decorators that nobody
    knows, which may take anything.
    """
    node, params = target.node, target.node.params
    if target.receiver is not None or not _keeps_signature(node, call.evaluator):
        return True
    if call.evaluator.file.class_of(node) is not None:
        return True
    names = {each.name.value for each in (*params.params, *params.kwonly_params)}
    keywords = (arg.keyword.value for arg in call.node.args if arg.keyword is not None)
    if params.star_kwarg is None and not names.issuperset(keywords):
        return False
    passed = held(target.partial) + sum(1 for arg in call.node.args if arg.keyword is None and not arg.star)
    return isinstance(params.star_arg, cst.Param) or passed <= len(positional(node))


def taking(call: Call, called: Value) -> Value:
    """What a call may call of some alternatives: those functions that take what it passes."""
    if not any(isinstance(each, Function) for each in called.options):
        return called
    kept = [each for each in called.options if not isinstance(each, Function) or takes(call, each)]
    return one_of(kept) if kept else Unknown("a function that does not take such arguments")


def _keeps_signature(node: cst.FunctionDef | cst.Lambda, evaluator: Evaluator) -> bool:
    """Whether all decorators of a function are known to take what it takes: those that trace it."""
    decorators = node.decorators if isinstance(node, cst.FunctionDef) else ()
    return all(evaluator.functions.traces(each.decorator) for each in decorators)


def gathers(function: cst.FunctionDef | cst.Lambda, name: str, call: Call, arg: cst.Arg) -> bool:
    """Whether a parameter is the `*args` or `**kwargs` of a function in which an argument of a call may end up, beside
    others."""
    params = function.params
    many = params.star_arg if isinstance(params.star_arg, cst.Param) else None
    if many is not None and many.name.value == name:
        return arg.star == "*" or (not arg.star and arg.keyword is None and not _is_named(function, call, arg))
    if params.star_kwarg is not None and params.star_kwarg.name.value == name:
        return arg.star == "**" or (arg.keyword is not None and not _is_named(function, call, arg))
    return False


def _is_named(function: cst.FunctionDef | cst.Lambda, call: Call, arg: cst.Arg) -> bool:
    """Whether a parameter of its own takes an argument."""
    own = (*positional(function), *function.params.kwonly_params)
    return any(call.receives(each.name.value, arg) for each in own)


def held(partial: Call | None) -> int:
    """How many positions a `functools.partial` fills."""
    return 0 if partial is None else sum(1 for arg in partial.node.args[1:] if arg.keyword is None and not arg.star)


def dictionaries(call: Call) -> Iterator[Value]:
    """What a call is passed with `**`: Unknown where its function was itself given it so, as callers may add to it, and
    where code sets or drops entries by its name."""
    file = call.evaluator.file
    for arg in call.node.args:
        if arg.star == "**":
            scope, named = file.scope_of(arg.value), arg.value.value if isinstance(arg.value, cst.Name) else None
            own = isinstance(scope, cst.FunctionDef) and getattr(scope.params.star_kwarg, "name", None) is not None
            changed = own or (named is not None and file.home(arg).places(named).changes_entries)
            yield Unknown("may hold more") if changed else call.evaluator.value(arg.value, call.frame)


def lacks_keys(given: Value, names: tuple[str | int, ...]) -> bool:
    """Whether a value is certainly a dictionary that has none of these keys."""
    if not isinstance(given, Mapping) or given.open:
        return False
    return not any(key in names or not isinstance(key, str) for key, _ in given.items)
