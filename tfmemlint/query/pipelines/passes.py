"""How often a program goes over a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const, Dataset, Function
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.limits import FOLLOWED_CALLS, RUN_THROUGH
from tfmemlint.query.pipelines.consumers import NAMES
from tfmemlint.query.repetition.repeats import repetitions
from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

Readers = frozenset[int]
"""The places that go over a pipeline, by the ids of their nodes."""

NONE: Readers = frozenset()

Code = cst.FunctionDef | cst.Lambda

LOOKS = frozenset(f"builtins.{name}" for name in ("type", "len", "print", "str", "repr", "id", "isinstance"))
"""Functions that take no element."""

RUNS = frozenset(f"builtins.{name}" for name in ("iter", "enumerate", "list", "tuple", "next"))
"""Functions that go over what they are given once, or less."""

ASKS = frozenset({"cardinality", "element_spec", "__len__"})
"""Attributes and methods of a pipeline that take no element."""

MOST_STEPS = 40
"""Calls behind each other through which a pipeline is followed."""


def gone_over_once(file: File, made: Call) -> bool:
    """Whether all that is done with the pipeline that a call makes is seen, and the program goes over each that it
    makes once at most, one of them at least: in a loop that nothing repeats, by `evaluate`, `predict` or a `fit` for
    one epoch. What is random in it is drawn once then, with a cache behind it or without.

    False also where nobody is seen to take elements, and where a module that is not looked at may.
    """
    found = _Passes(file).readers(made.node)
    return found is not None and len(found) == 1


class _Passes:
    """One question: the steps that were followed."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._within: list[Node] = []

    def readers(self, made: Node) -> Readers | None:
        """The places that go over the pipeline which an expression or parameter gives, or over what it becomes; None
        where one of them may do so again and again, or is not seen."""
        if len(self._within) > MOST_STEPS or any(made is each for each in self._within) or self._imported(made):
            return None
        self._within.append(made)
        found: Readers | None = NONE
        for use in uses(self._file, made):
            more = self._of(use, made)
            found = found | more if found is not None and more is not None else None
            if found is None:
                break
        self._within.pop()
        return found

    def _of(self, use: Use, made: Node) -> Readers | None:
        call = use.call
        if use.does is Does.RETURN:
            return self._returned(use)
        if use.does in (Does.COMPUTE, Does.DELETE) or use.word in ASKS:
            return NONE
        if use.does is Does.ITERATE:
            return self._read(use.node, made)
        if use.does is Does.METHOD and call is not None:
            return self._step(call)
        return self._passed(use, call, made) if use.does is Does.PASS and call is not None else None

    def _step(self, call: Call) -> Readers | None:
        """A method of the pipeline: another step, or an iterator."""
        if call.method == "as_numpy_iterator":
            return self.readers(call.node)
        again = call.method == "repeat" and call.value_of("count") != Const(1)
        steps = all(isinstance(option, Dataset) for option in call.value.options)
        return self.readers(call.node) if steps and not again else None

    def _passed(self, use: Use, call: Call, made: Node) -> Readers | None:
        """A call that is given the pipeline."""
        if call.names and all(name in LOOKS for name in call.names):
            return NONE
        if (call.names and all(name in RUNS for name in call.names)) or (call.method in RUN_THROUGH):
            return self._read(call.node, made)
        entered = [target.node for target in call.target.options if isinstance(target, Function)]
        if entered:
            return self._entered(use, call, entered, made)
        return self._read(call.node, made) if _one_pass(use, call) else None

    def _entered(self, use: Use, call: Call, functions: list[Code], made: Node) -> Readers | None:
        """Functions of the module that take the pipeline: each call is a place of its own."""
        if len(functions) < len(call.target.options) or use.argument is None:
            return None
        for function in functions:
            taking = [each for each in parameters(function) if call.receives(each.name.value, use.argument)]
            inside = [self.readers(each) for each in taking]
            if not inside or any(each is None or len(each) > 1 for each in inside):
                return None
            if any(inside):
                return self._read(call.node, made)
        return NONE

    def _returned(self, use: Use) -> Readers | None:
        """The callers of a function that makes the pipeline: each has one of its own and goes over it once at most."""
        function = self._file.contexts.function(use.node)
        graph = self._file.call_graph
        callers = graph.callers(function) if function is not None else None
        if function is None or not callers or graph.callers_elsewhere(function) != ():
            return None
        if len(self._within) > MOST_STEPS or self._file.yields(function):
            return None
        found = [self.readers(call.node) for call in callers]
        if any(each is None or len(each) > 1 for each in found):
            return None
        return frozenset({id(function)}) if any(found) else NONE

    def _read(self, reader: Node, made: Node) -> Readers | None:
        """A place that goes over the pipeline; None where something runs the place again and makes no new pipeline."""
        around = repetitions(self._file, reader, calls=FOLLOWED_CALLS)
        again = any(not self._file.tree.contains(each.place, made) for each in around)
        return None if again else frozenset({id(reader)})

    def _imported(self, made: Node) -> bool:
        """Whether another module may take what an expression gives by the name that it has in this one."""
        siblings, statement = self._file.siblings, self._file.tree.statement(made)
        if siblings is None or self._file.contexts.function(made) is not None or statement is None:
            return False
        names = {each.name for each in self._file.bound_within(statement)}
        return bool(names) and bool(siblings.importers(sorted(names)))


def _one_pass(use: Use, call: Call) -> bool:
    """Whether a call is a method of a model that goes over the data which it is given once."""
    if call.receiver_node is None or call.method not in NAMES or use.argument is None or call.open:
        return False
    passed = {arg.keyword.value: arg.value for arg in call.node.args if arg.keyword is not None}
    keyword = use.argument.keyword.value if use.argument.keyword is not None else None
    data = use.argument is call.node.args[0] or keyword == "x"
    if call.method != "fit":
        return data
    epochs = passed.get("epochs")
    once = epochs is None or (isinstance(epochs, cst.Integer) and epochs.value == "1")
    return data and once and sum(arg.keyword is None for arg in call.node.args) <= 3
