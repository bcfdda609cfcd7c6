"""Assignments to environment variables, however they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Api, Call, Const, File, Mapping, Node, OneOf, Sequence, Value


@dataclass(frozen=True)
class Setting:
    """One variable that the program sets: its name, the value, the statement or call that does it."""

    variable: str
    value: Value
    expression: cst.BaseExpression | None
    node: Node | Call

    @property
    def place(self) -> Node:
        """The node that the setting stands at."""
        return self.node.node if isinstance(self.node, Call) else self.node


ENVIRON = Api("os.environ")
CALLS = ("os.putenv", "os.environ.setdefault", "os.environ.update")


def settings(file: File) -> Iterator[Setting]:
    """All settings of environment variables in a file, in no particular order."""
    for assign in file.tree.of(cst.Assign):
        for target in assign.targets:
            if isinstance(target.target, cst.Subscript) and file.value(target.target.value) == ENVIRON:
                index = target.target.slice[0].slice
                key = file.value(index.value) if isinstance(index, cst.Index) else None
                if isinstance(key, Const) and isinstance(key.value, str):
                    yield Setting(key.value, file.value(assign.value), assign.value, assign)
                elif isinstance(key, OneOf) and isinstance(index, cst.Index):
                    yield from _looped(index.value, assign, file)
    for merge in file.tree.of(cst.AugAssign):
        if isinstance(merge.operator, cst.BitOrAssign) and file.value(merge.target) == ENVIRON:
            given = file.value(merge.value)
            for name, value in given.items if isinstance(given, Mapping) else ():
                if isinstance(name, str):
                    yield Setting(name, value, _entry(merge.value, name, file), merge)
    for call in file.calls(*CALLS):
        yield from _called(call)


def _looped(key: cst.BaseExpression, assign: cst.Assign, file: File) -> Iterator[Setting]:
    """`for key, value in pairs: os.environ[key] = value`: one setting for each pair."""
    loop = file.contexts.loop(assign)
    target = loop.target if isinstance(loop, cst.For) else None
    if not isinstance(loop, cst.For) or not isinstance(target, cst.Tuple) or len(target.elements) != 2:
        return
    names = [e.value.value if isinstance(e.value, cst.Name) else "" for e in target.elements]
    given = assign.value
    while isinstance(given, cst.Call) and file.call(given).name == "builtins.str" and len(given.args) == 1:
        given = given.args[0].value
    if [n.value if isinstance(n, cst.Name) else None for n in (key, given)] != names:
        return
    pairs, display = file.contexts.iterated(loop), isinstance(file.written(loop.iter), (cst.List, cst.Tuple))
    for pair in pairs.items if isinstance(pairs, Sequence) else ():
        name, value = pair.items if isinstance(pair, Sequence) and len(pair.items) == 2 else (None, None)
        if isinstance(name, Const) and isinstance(name.value, str) and isinstance(value, Const):
            value = value if given is assign.value else Const(str(value.value))
            yield Setting(name.value, value, assign.value if display else None, assign)


def passed_on(file: File, variable: str) -> Iterator[Setting]:
    """The places where dictionaries give a variable to other processes: `{**os.environ, "NAME": value}`."""
    updates = {id(call.node.args[0].value) for call in file.calls("os.environ.update") if call.node.args}
    updates |= {id(merge.value) for merge in file.tree.of(cst.AugAssign) if file.value(merge.target) == ENVIRON}
    for display in file.tree.of(cst.Dict):
        for element in display.elements if id(display) not in updates else ():
            if isinstance(element, cst.DictElement) and file.value(element.key) == Const(variable):
                yield Setting(variable, file.value(element.value), element.value, element.key)
    for assign in file.tree.of(cst.Assign):
        target = assign.targets[0].target
        if isinstance(target, cst.Subscript) and _copied(target.value, file):
            index = target.slice[0].slice
            if isinstance(index, cst.Index) and file.value(index.value) == Const(variable):
                yield Setting(variable, file.value(assign.value), assign.value, assign)
    for call in file.calls("builtins.dict"):
        for arg in call.node.args:
            if arg.keyword is not None and arg.keyword.value == variable:
                yield Setting(variable, file.value(arg.value), arg.value, arg.keyword)


def _copied(environment: cst.BaseExpression, file: File) -> bool:
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


def _called(call: Call) -> Iterator[Setting]:
    if call.name == "os.environ.update":
        given = call.value_of(0)
        for key, value in given.items if isinstance(given, Mapping) else ():
            if isinstance(key, str):
                yield Setting(key, value, _entry(call.node.args[0].value, key, call.evaluator.file), call)
        for arg in call.node.args:
            if arg.keyword is not None:
                yield Setting(arg.keyword.value, call.evaluator.value(arg.value), arg.value, call)
        return
    key = call.value_of(0)
    if isinstance(key, Const) and isinstance(key.value, str) and len(call.node.args) > 1:
        yield Setting(key.value, call.value_of(1), call.node.args[1].value, call)


def _entry(display: cst.BaseExpression, key: str, file: File) -> cst.BaseExpression | None:
    """The expression that a dictionary display has for a key."""
    for element in display.elements if isinstance(display, cst.Dict) else ():
        if isinstance(element, cst.DictElement) and file.value(element.key) == Const(key):
            return element.value
    return None
