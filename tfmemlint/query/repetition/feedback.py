"""Whether what a loop gives a call is made of what the call gave in the round before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Function
from tfmemlint.query.repetition.mutation import path_at
from tfmemlint.syntax.names import Loop, home_of, is_variable
from tfmemlint.syntax.scopes import Binds, Definition, dotted, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

NO_VARIABLES = (Binds.CLASS, Binds.FUNCTION, Binds.IMPORT)
SIZES = frozenset({"dtype", "ndim", "shape", "size"})
"""Attributes of arrays that say nothing of what is in them."""


def feeds_back(file: File, applied: cst.Call, loop: Node, *, answer: Node | None = None) -> bool:
    """Whether a `for` or `while` gives a call something that it has made of what the call gave in a round before:
    `y, s = cell(x, s)`, `state = env.step(act(state))`, `text.append(predict(text))`. Then no round can be done before
    the one before it.

    `answer` is what gives the answer where that stands in a function that the call runs. Followed are names,
    attributes, containers, objects that have been given an answer, the conditions under which one of these is changed,
    and functions of the module that the loop calls. What goes through files, a screen or the weights of what is called
    is not seen: False promises nothing.
    """
    if not isinstance(loop, (cst.For, cst.While)) or not file.tree.contains(loop.body, applied):
        return False
    answers = (applied,) if answer is None else (applied, answer)
    return _Rounds(file, _body(file, loop), applied, answers).come_from_answers(arg.value for arg in applied.args)


@once_per_file
def _body(file: File, loop: Loop) -> _Body:
    return _Body(file, loop)


@dataclass(frozen=True, slots=True)
class _Change:
    """One place that changes what a path leads to: `home` is the scope or class to which its first word belongs,
    `method` the call of the method that does so, in the loop or in what it calls; None for a store."""

    home: Node
    path: str
    node: Node
    values: tuple[Node, ...]
    method: cst.Call | None


@dataclass(frozen=True, eq=False)
class _Body:
    """What a loop does, whichever of its calls is asked about."""

    file: File
    loop: Loop

    def runs(self, node: Node) -> bool:
        """Whether the loop runs some code, itself or in a function that it calls."""
        return any(self.file.tree.contains(place, node) for place in (self.loop.body, *self.called))

    @cached_property
    def called(self) -> dict[cst.FunctionDef, list[Call]]:
        """The functions of the program that the loop calls, with the calls."""
        found: dict[cst.FunctionDef, list[Call]] = {}
        for node in walk(self.loop.body, cst.Call):
            call = self.file.call(node)
            function = _function(call)
            if function is not None:
                found.setdefault(function, []).append(call)
        return found

    @cached_property
    def changes(self) -> dict[tuple[Node, str], list[_Change]]:
        """What the loop and the functions that it calls put into objects, containers and attributes, or give to methods
        of them, by where the path begins: its home and first word."""
        found = list(self._changes_in(self.loop.body))
        for function, calls in self.called.items():
            for change in self._changes_in(function.body):
                if change.home is not function:
                    found.append(change)
                    continue
                first, dot, rest = change.path.partition(".")
                for call in calls:
                    given = call.arg(first)
                    base = dotted(given.expression) if given is not None else None
                    root = next(iter(walk(given.expression, cst.Name)), None) if given is not None else None
                    if base is not None and root is not None:
                        path = base + dot + rest
                        found.append(_Change(self.home(root), path, call.node, change.values, change.method))
        by_word: dict[tuple[Node, str], list[_Change]] = {}
        for change in found:
            by_word.setdefault((change.home, _first_word(change.path)), []).append(change)
        return by_word

    def _changes_in(self, body: Node) -> Iterator[_Change]:
        for node in walk(body):
            if isinstance(node, cst.Assign):
                for target in (part for each in node.targets for part in _parts(each.target)):
                    yield from self._stored(node, target, node.value)
            elif isinstance(node, cst.AugAssign):
                yield from self._stored(node, node.target, node.value)
            elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                values = tuple(arg.value for arg in node.args)
                yield from self._change(node, node.func.value, values, node)

    def _stored(self, node: Node, target: cst.BaseExpression, value: cst.BaseExpression) -> Iterator[_Change]:
        indices: list[Node] = []
        while isinstance(target, cst.Subscript):
            indices += target.slice
            target = target.value
        if indices or isinstance(target, cst.Attribute):
            yield from self._change(node, target, (value, *indices))

    def _change(
        self, node: Node, holder: cst.BaseExpression, values: tuple[Node, ...], method: cst.Call | None = None
    ) -> Iterator[_Change]:
        while isinstance(holder, cst.Subscript):
            holder = holder.value
        path, root = dotted(holder), next(iter(walk(holder, cst.Name)), None)
        if path is not None and root is not None:
            yield _Change(self.home(root), path, node, values, method)

    def home(self, root: cst.Name) -> Node:
        home = home_of(self.file, root)
        return (self.file.class_of(home) or home) if root.value == "self" else home


@dataclass(frozen=True)
class _Rounds:
    file: File
    body: _Body
    applied: cst.Call
    answers: tuple[Node, ...]

    def come_from_answers(self, given: Iterable[Node]) -> bool:
        """Whether expressions hold an answer, or what the loop has made of one."""
        waiting, seen = list(given), set[int]()
        while waiting:
            code = waiting.pop()
            if id(code) in seen:
                continue
            seen.add(id(code))
            if any(self.file.tree.contains(code, answer) for answer in self.answers):
                return True
            waiting += self._behind(code)
        return False

    def _behind(self, code: Node) -> Iterator[Node]:
        """What the loop makes the values of, that some code reads."""
        sizes = [call for call in walk(code, cst.Call) if self.file.call(call).name == "builtins.len"]
        for name in walk(code, cst.Name):
            path = self._read_at(name)
            counted = not SIZES.isdisjoint(path.split(".")) or any(self.file.tree.contains(c, name) for c in sizes)
            if not counted and is_variable(self.file, name):
                yield from self._makers(name, path)
        for call in walk(code, cst.Call):
            function = _function(self.file.call(call))
            if function is not None and function in self.body.called:
                yield from (each.value for each in self.file.returns(function) if each.value is not None)

    def _read_at(self, name: cst.Name) -> str:
        """The dotted path that is read at a name; of a method of `self` that is called that itself, as it is either
        known or what the object holds."""
        above = self.file.tree.parent(name)
        path = path_at(self.file, name)
        return f"self.{above.attr.value}" if path == "self" and isinstance(above, cst.Attribute) else path

    def _makers(self, name: cst.Name, path: str) -> Iterator[Node]:
        node: Node | None = name
        found: list[Definition] = []
        fresh = False
        while node is not None:
            reaching = self.file.definitions(node)
            found += written(reaching)
            fresh = fresh or (bool(reaching) and all(self._in_round(d) for d in reaching))
            above = self.file.tree.parent(node)
            node = above if isinstance(above, cst.Attribute) and above.value is node else None
        found = found or self._outer(name)
        if any(d.binds in NO_VARIABLES for d in found):
            return
        for d in found:
            if d.binds is Binds.PARAMETER:
                yield from self._passed(d)
            elif self.body.runs(d.node) and d.value is not None:
                yield from (d.value, *self._conditions(d.node))
        at = self.file.tree.order(name)
        first = min((self.file.tree.order(d.node) for d in found), default=0)
        for change in self._changes_of(name, path):
            between = first < self.file.tree.order(change.node) and self.file.tree.last(change.node) < at
            if not fresh or between or not self._is_beside(change.node, name):
                yield from (*change.values, *self._conditions(change.node))

    def _outer(self, name: cst.Name) -> list[Definition]:
        return written(self.file.flow(home_of(self.file, name)).bindings.get(name.value, ()))

    def _in_round(self, found: object) -> bool:
        """Whether each round binds a name anew."""
        return isinstance(found, Definition) and (
            self.file.tree.contains(self.body.loop, found.node) or self.body.runs(found.node)
        )

    def _is_beside(self, node: Node, other: Node) -> bool:
        return self.file.contexts.function(node) is self.file.contexts.function(other)

    def _conditions(self, node: Node) -> Iterator[Node]:
        """The tests in the loop on which it depends whether something runs."""
        for above in self.file.tree.ancestors(node):
            if above is self.body.loop or isinstance(above, cst.FunctionDef):
                return
            if isinstance(above, (cst.If, cst.While)):
                yield above.test

    def _passed(self, parameter: Definition) -> Iterator[Node]:
        """What the loop's calls of a function give one of its parameters."""
        for function, calls in self.body.called.items():
            if parameter.scope is function:
                given = (call.arg(parameter.name) for call in calls)
                yield from (arg.expression for arg in given if arg is not None)

    def _changes_of(self, name: cst.Name, path: str) -> Iterator[_Change]:
        """What is put into what a path leads to, or into what that is a part of. The receiver of the call that is asked
        about is left out: its weights are no item."""
        func = self.applied.func
        own = dotted(func.value) if isinstance(func, cst.Attribute) else None
        for change in self.body.changes.get((self.body.home(name), _first_word(path)), ()):
            if change.method in self.answers or change.path in ("self", own):
                continue
            if _holds(change.path, path) or _holds(path, change.path):
                yield change


def _function(call: Call) -> cst.FunctionDef | None:
    node = call.target.node if isinstance(call.target, Function) else None
    return node if isinstance(node, cst.FunctionDef) else None


def _parts(target: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _parts(element.value)
    else:
        yield target


def _first_word(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _holds(path: str, part: str) -> bool:
    """Whether one dotted path is another or leads to what it is a part of."""
    return path == part or part.startswith((f"{path}.", f"{path}["))
