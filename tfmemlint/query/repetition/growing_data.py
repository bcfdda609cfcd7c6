"""Data that gets longer in a loop in which a model is trained with all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.query.flow.containers import is_bounded, is_emptied
from tfmemlint.query.limits import FEW_STEPS
from tfmemlint.query.repetition.accumulating import accumulated, names_of
from tfmemlint.query.repetition.read_data import trains_in
from tfmemlint.query.repetition.repeats import Repetition, repetitions
from tfmemlint.syntax.names import home_of
from tfmemlint.syntax.scopes import Binds, Definition, ScopeNode, dotted, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

ADDS = ("append", "extend", "insert", "appendleft")
MAKERS = frozenset({"builtins.list", "collections.deque"})
MOST_NAMES = 6
"""Names and calls behind each other through which the data of one `fit` is followed."""


@dataclass(frozen=True, slots=True)
class GrowingData:
    """Data that each iteration makes longer and a model is trained with: the call `made` that makes one array of all
    that is there, the call that adds to it (the same, where that joins arrays), and the repetition."""

    made: Call
    added: Call
    again: Repetition


def growing_data(file: File, fit: Call) -> GrowingData | None:
    """The data of `fit` that certainly gets longer in each iteration of a loop which trains with all of it.

    It is a list that is made one array, or an array that another one is joined to. None for what is cut back, emptied,
    begun anew or bounded in the file, for parts and samples of it, for loops of at most `FEW_STEPS` iterations, for
    code that runs now and then, and where each iteration trains a model of its own from the beginning.
    """
    for arg in fit.node.args[:2]:
        for made, held in _held(file, arg.value, None, MOST_NAMES):
            found = _grown(file, fit, made, held)
            if found is not None:
                return found
    return None


def _held(
    file: File, node: cst.BaseExpression, made: Call | None, left: int
) -> Iterator[tuple[Call | None, cst.Name | cst.Attribute]]:
    """The names of lists and arrays that an expression is all of, with the call that makes one array of a list."""
    if isinstance(node, cst.Call):
        call = file.call(node)
        converts = call.name in CONVERTS or knowledge.in_group(call.name, "joins_arrays")
        if call.method in KEEPS and call.name not in PLAIN and call.receiver_node is not None:
            yield from _held(file, call.receiver_node, made, left - 1)
        elif node.args and (converts or knowledge.in_group(call.name, "keeps_array")):
            yield from _held(file, node.args[0].value, made or (call if converts else None), left - 1)
    elif isinstance(node, (cst.List, cst.Tuple)):
        for element in node.elements if made is None else ():
            yield from _held(file, element.value, None, left - 1)
    elif isinstance(node, (cst.Name, cst.Attribute)):
        yield made, node
        found = file.only_definition(node)
        if left and found is not None and found.binds is Binds.VALUE and not found.path:
            if isinstance(found.value, cst.Call):
                yield from _held(file, found.value, made, left - 1)


CONVERTS = frozenset({"np.asarray", "tf.constant", "tf.convert_to_tensor", "tf.stack", "tf.concat", "np.float32"})
"""What makes one array or tensor of a list, beside what joins arrays."""

KEEPS = frozenset({"astype", "reshape", "copy", "squeeze"})
"""Methods of arrays that give the same items."""

PLAIN = frozenset({"np.reshape", "np.copy", "np.squeeze"})
"""Functions of these names."""


def _grown(file: File, fit: Call, made: Call | None, held: cst.Name | cst.Attribute) -> GrowingData | None:
    path = dotted(held)
    if path is None or is_bounded(file, held):
        return None
    same = _Variable(file, held, path)
    for again in repetitions(file, fit.node):
        if not isinstance(again.place, (cst.For, cst.While)) or again.few(FEW_STEPS) or _rare(file, fit.node, again):
            continue
        added = next((each for each in same.adders(made) if trains_in(file, each, again.place)), None)
        if added is None or same.is_cut(again) or _rare(file, added.node, again) or _new_model(file, fit, again):
            continue
        if same.decides(added, again):
            continue
        return GrowingData(made or added, added, again)
    return None


@dataclass(frozen=True, slots=True)
class _Variable:
    """The variable or attribute that holds a list or array."""

    file: File
    held: cst.Name | cst.Attribute
    path: str

    def adders(self, made: Call | None) -> Iterator[Call]:
        """The calls that add to it: methods of the list, where an array is made of that, or what joins arrays."""
        if made is not None:
            if not self._makes_list():
                return
            for word in ADDS:
                for node in self.file.method_calls.get((word, self.path), ()):
                    if isinstance(node.func, cst.Attribute) and self._same(node.func.value):
                        yield self.file.call(node)
        yield from (join for binding in self._bindings() if (join := self._join(binding)) is not None)

    def is_cut(self, again: Repetition) -> bool:
        """Whether some code makes it shorter or begins it anew: for an attribute any but `__init__`."""
        attribute = isinstance(self.held, cst.Attribute) or again.calls > 0
        within = self.file.module if attribute else again.place
        if is_emptied(self.file, self.path, within):
            return True
        others = (each for each in self._bindings() if self._join(each) is None and not _adds(each))
        again_made = (each for each in others if self.file.tree.contains(within, each.node))
        return any(not (attribute and self._first(each.node)) for each in again_made)

    def decides(self, added: Call, again: Repetition) -> bool:
        """Whether an `if` around what adds asks about it, as where only so many are collected."""
        around = (a for a in self.file.tree.ancestors(added.node) if isinstance(a, cst.If))
        tests = (a.test for a in around if not self.file.tree.contains(a, again.place))
        return any(next(names_of(self.file, test, self.path), None) is not None for test in tests)

    def _makes_list(self) -> bool:
        """Whether all that is given to it is a list."""
        values = [_value(each) for each in self._bindings() if not _adds(each)]
        return bool(values) and all(
            isinstance(value, (cst.List, cst.ListComp))
            or (isinstance(value, cst.Call) and self.file.call(value).name in MAKERS)
            for value in values
        )

    def _bindings(self) -> Iterator[Definition]:
        if isinstance(self.held, cst.Name):
            homes: list[ScopeNode] = [home_of(self.file, self.held)]
        else:
            homes = [self.file.module, *self.file.tree.of(cst.FunctionDef)]
        for home in homes:
            yield from written(self.file.flow(home).bindings.get(self.path, ()))

    def _join(self, binding: Definition) -> Call | None:
        value = _value(binding)
        call = self.file.call(value) if isinstance(value, cst.Call) else None
        if call is None or not knowledge.in_group(call.name, "joins_copies"):
            return None
        found = accumulated(self.file, call)
        return call if found is not None and found.name == self.path else None

    def _first(self, node: Node) -> bool:
        """Whether it is given its first value: in `__init__`, or at the top of the module."""
        home = self.file.contexts.function(node)
        if home is None:
            return self.file.contexts.loop(node) is None
        return isinstance(home, cst.FunctionDef) and home.name.value == "__init__"

    def _same(self, node: cst.BaseExpression) -> bool:
        if isinstance(self.held, cst.Name):
            return isinstance(node, cst.Name) and home_of(self.file, node) is home_of(self.file, self.held)
        return isinstance(node, cst.Attribute)


def _adds(binding: Definition) -> bool:
    """`rows += [x]`"""
    return binding.binds is Binds.AUGMENTED


def _value(binding: Definition) -> Node | None:
    """What a binding gives, also one of several: `xs, ys = [], []`."""
    value = binding.value
    for at in binding.path:
        if not isinstance(value, (cst.Tuple, cst.List)) or not isinstance(at, int) or at >= len(value.elements):
            return None
        value = value.elements[at].value
    return value


def _rare(file: File, node: Node, again: Repetition) -> bool:
    """Whether a condition lets it run now and then only, or once: `if step % 100 == 0`, `if step == n`."""
    around = [a for inside in (node, *again.chain) for a in file.tree.ancestors(inside) if isinstance(a, cst.If)]
    tests = [a.test for a in around if file.tree.contains(again.place, a) or not file.tree.contains(a, again.place)]
    operators = (each.operator for test in tests for each in walk(test, cst.ComparisonTarget))
    modulo = any(isinstance(each.operator, cst.Modulo) for test in tests for each in walk(test, cst.BinaryOperation))
    return modulo or any(isinstance(operator, cst.Equal) for operator in operators)


def _new_model(file: File, fit: Call, again: Repetition) -> bool:
    """Whether the loop makes the model anew that it trains."""
    receiver = fit.receiver_node
    found = file.only_definition(receiver) if isinstance(receiver, cst.Name) else None
    return found is not None and found.binds is Binds.VALUE and file.tree.contains(again.place, found.node)
