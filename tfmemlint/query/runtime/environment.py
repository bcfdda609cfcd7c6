"""Environment variables that a program sets, however it writes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.calls import Call
from tfmemlint.model.values import Api, Const, Mapping, OneOf, Sequence, Value
from tfmemlint.query.facts import Fact
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File

ENVIRON = Api("os.environ")


GROWS = ("TF_FORCE_GPU_ALLOW_GROWTH", Const("true"))


@dataclass(frozen=True, slots=True)
class Setting:
    """One variable that is set: its name, what it is set to, and the statement or call that does it.

    `expression` is the code of the value; None where it stands elsewhere, as in a dictionary of another name.
    """

    variable: str
    value: Value
    expression: cst.BaseExpression | None
    where: Node | Call

    @property
    def node(self) -> Node:
        """The statement or call expression that sets it."""
        return self.where.node if isinstance(self.where, Call) else self.where


def _settings(file: File) -> list[Setting]:
    found = [*_assigned(file), *_merged(file)]
    for call in file.calls("os.putenv", "os.environ.setdefault"):
        found += _set_by(file, call)
    for call in file.calls("os.environ.update"):
        found += _updated(file, call)
    return sorted(found, key=lambda setting: file.tree.order(setting.node))


settings = Fact(_settings, "os.environ", "os.putenv")
"""Each variable that the program certainly sets for itself, if it gets there: by assignments to `os.environ`, also in
loops over pairs that are written down, by `update`, `|=`, `setdefault` and `putenv`."""


def forces_growth(file: File, before: Node | None = None) -> bool:
    """Whether the program sets the variable by which all cards grow, whatever else is configured or fails; `before`
    some code of this module, if that is given, as devices are made there."""
    order = file.tree.order
    found = (each for each in settings.of(file) if (each.variable, each.value) == GROWS)
    return any(before is None or order(each.node) < order(before) for each in found)


@cache
def given_to_children(variable: str) -> Fact[Setting]:
    """Each place where a dictionary or a copy of the environment gives the variable to other processes:
    `{**os.environ, "NAME": value}`. What is done with the dictionary is not looked at."""

    def given(file: File) -> Iterator[Setting]:
        return (setting for setting in _in_dictionaries(file) if setting.variable == variable)

    return Fact(given, variable)


def mentions_variable(file: File, variable: str) -> bool:
    """Whether the program may have to do with a variable: a text of it that is not documentation names it."""
    texts = (text for text in file.tree.of(cst.SimpleString) if variable in text.value)
    return any(not isinstance(file.tree.parent(text), cst.Expr) for text in texts)


# -- the program's own environment -----------------------------------------------------------------------------------


def _assigned(file: File) -> Iterator[Setting]:
    """`os.environ["NAME"] = value`."""
    for assign, owner, index in _item_assignments(file):
        if file.value(owner) == ENVIRON:
            key = file.value(index)
            if isinstance(key, OneOf):
                yield from _looped(file, assign, index)
            else:
                yield from _named(key, file.value(assign.value), assign.value, assign)


def _named(key: Value | str, value: Value, code: cst.BaseExpression | None, where: Node | Call) -> Iterator[Setting]:
    """A setting where the variable's name is known."""
    name = key.value if isinstance(key, Const) else key
    if isinstance(name, str):
        yield Setting(name, value, code, where)


def _item_assignments(file: File) -> Iterator[tuple[cst.Assign, cst.BaseExpression, cst.BaseExpression]]:
    """Each `owner[index] = value`: the statement, the owner and the index."""
    for assign in file.tree.of(cst.Assign):
        for target in (each.target for each in assign.targets):
            index = target.slice[0].slice if isinstance(target, cst.Subscript) else None
            if isinstance(target, cst.Subscript) and isinstance(index, cst.Index):
                yield assign, target.value, index.value


def _looped(file: File, assign: cst.Assign, key: cst.BaseExpression) -> Iterator[Setting]:
    """`for key, value in pairs: os.environ[key] = value`: one setting for each pair."""
    loop = file.contexts.loop(assign)
    given = assign.value
    while isinstance(given, cst.Call) and file.call(given).name == "builtins.str" and len(given.args) == 1:
        given = given.args[0].value
    if not isinstance(loop, cst.For) or not _unpacks(loop.target, key, given):
        return
    pairs, display = file.contexts.iterated(loop), isinstance(file.written(loop.iter), (cst.List, cst.Tuple))
    for pair in pairs.items if isinstance(pairs, Sequence) else ():
        name, value = pair.items if isinstance(pair, Sequence) and len(pair.items) == 2 else (None, None)
        if name is not None and isinstance(value, Const):
            text = value if given is assign.value else Const(str(value.value))
            yield from _named(name, text, assign.value if display else None, assign)


def _unpacks(target: cst.BaseExpression, *names: cst.BaseExpression) -> bool:
    """Whether a loop's target is a tuple of just these names."""
    elements = [element.value for element in target.elements] if isinstance(target, cst.Tuple) else []
    pairs = zip(elements, names, strict=False)
    return len(elements) == len(names) and all(
        isinstance(a, cst.Name) and isinstance(b, cst.Name) and a.value == b.value for a, b in pairs
    )


def _merged(file: File) -> Iterator[Setting]:
    """`os.environ |= {"NAME": value}`."""
    for merge in file.tree.of(cst.AugAssign):
        if _merges(file, merge):
            yield from _entries(file, merge.value, merge)


def _merges(file: File, merge: cst.AugAssign) -> bool:
    return isinstance(merge.operator, cst.BitOrAssign) and file.value(merge.target) == ENVIRON


def _set_by(file: File, call: Call) -> Iterator[Setting]:
    """`os.putenv("NAME", value)`."""
    if call.arg(0) is not None and len(call.node.args) > 1:
        yield from _named(call.value_of(0), call.value_of(1), call.node.args[1].value, call)


def _updated(file: File, call: Call) -> Iterator[Setting]:
    """`os.environ.update({"NAME": value})` and `update(NAME=value)`."""
    given = call.arg(0)
    if given is not None:
        yield from _entries(file, given.expression, call)
    for arg in call.node.args:
        if arg.keyword is not None:
            yield Setting(arg.keyword.value, file.value(arg.value), arg.value, call)


def _entries(file: File, dictionary: cst.BaseExpression, where: Node | Call) -> Iterator[Setting]:
    """One setting for each known entry of a dictionary."""
    given = file.value(dictionary)
    for key, value in given.items if isinstance(given, Mapping) else ():
        if isinstance(key, str):
            yield Setting(key, value, _entry(file, dictionary, key), where)


def _entry(file: File, display: cst.BaseExpression, key: str) -> cst.BaseExpression | None:
    """The expression that a dictionary display has for a key."""
    for element in display.elements if isinstance(display, cst.Dict) else ():
        if isinstance(element, cst.DictElement) and file.value(element.key) == Const(key):
            return element.value
    return None


# -- the environment of other processes ------------------------------------------------------------------------------


def _in_dictionaries(file: File) -> Iterator[Setting]:
    own = {id(call.node.args[0].value) for call in file.calls("os.environ.update") if call.node.args}
    own |= {id(merge.value) for merge in file.tree.of(cst.AugAssign) if _merges(file, merge)}
    for display in file.tree.of(cst.Dict):
        for element in display.elements if id(display) not in own else ():
            if isinstance(element, cst.DictElement):
                yield from _named(file.value(element.key), file.value(element.value), element.value, element.key)
    for assign, owner, index in _item_assignments(file):
        if _is_copy(file, owner):
            yield from _named(file.value(index), file.value(assign.value), assign.value, assign)
    for call in file.calls("builtins.dict"):
        for arg in call.node.args:
            if arg.keyword is not None:
                yield Setting(arg.keyword.value, file.value(arg.value), arg.value, arg.keyword)


def _is_copy(file: File, environment: cst.BaseExpression) -> bool:
    """Whether a name stands for a copy of the environment: `os.environ.copy()`, `dict(os.environ)`."""
    if not isinstance(environment, cst.Name):
        return False
    made = [d.value for d in file.definitions(environment)]
    calls = [file.call(node) for node in made if isinstance(node, cst.Call)]
    return bool(calls) and all(
        call.name == "os.environ.copy"
        or (call.name in ("builtins.dict", "copy.copy", "copy.deepcopy") and call.value_of(0) == ENVIRON)
        for call in calls
    )
