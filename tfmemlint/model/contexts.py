"""Where code stands: in which loops, functions and `with` blocks, and whether it runs traced or eagerly."""

from __future__ import annotations

import itertools
from collections.abc import Iterator as Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array, Dataset, Devices, Iterator, Length, Sequence, Value
from tfmemlint.syntax.leaving import left_at_once
from tfmemlint.syntax.reaching import always
from tfmemlint.syntax.scopes import COMPREHENSIONS, FUNCTIONS, SCOPE_CLASSES, SCOPES, own_nodes
from tfmemlint.syntax.tree import Node
from tfmemlint.syntax.unreached import Unreached

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

Loop = cst.For | cst.While
LOOPS = (cst.For, cst.While)

TRACED_METHODS = frozenset({"call", "train_step", "test_step", "predict_step"})
"""Methods of Keras layers and models that `fit`, `evaluate` and `predict` run inside a traced function."""

LAYER_AND_LOSS = ("tf.keras.layers.Layer", "tf.keras.losses.Loss")

TRACING_CALLS = frozenset(
    f"tf.data.Dataset.{name}" for name in ("map", "filter", "flat_map", "interleave", "scan", "reduce", "take_while")
) | {"tf.while_loop", "tf.map_fn", "tf.scan", "tf.vectorized_map"}

TRACERS = TRACING_CALLS | {"tf.function"}

RUN_THROUGH = frozenset({"enumerate", "iter", "list", "reversed", "sorted", "tqdm", "tuple", "as_numpy_iterator"})
"""What an iteration runs through: it changes neither the items nor how many there are."""

PASSED_ON = frozenset({"enumerate", "list", "reversed", "tqdm"})
"""Functions that give what they are given, item by item."""

MAPS = frozenset({"map", "imap", "imap_unordered", "starmap"})
"""What calls a function with each of many items: `map` itself, pools, pipelines."""

PYTHON_CALLS = frozenset({"tf.py_function", "tf.numpy_function", "tf.compat.v1.py_func"})
"""What is given to these runs as Python, also where the call is traced."""


class Contexts:
    """Answers about the surroundings of a node of one file."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._traced: dict[int, bool] = {}
        self._left: dict[int, tuple[Node, ...]] = {}

    # -- loops -------------------------------------------------------------------------------------------------------

    def loops(self, node: Node) -> Iterable[Loop]:
        """The `for` and `while` statements of the same function whose body runs the node again, innermost first."""
        below: Node = node
        for above in self._file.tree.ancestors(node):
            if above.__class__ in SCOPE_CLASSES:
                return
            if above.__class__ in LOOPS:  # far cheaper than isinstance, and nearly all are none
                assert isinstance(above, LOOPS)
                runs_again = below is above.body or (isinstance(above, cst.While) and below is above.test)
                ends = self._left_at_once(above) if runs_again else ()
                if runs_again and not ends:
                    yield above
                if ends and self._leaves_all(ends):
                    return
            below = above

    def _left_at_once(self, loop: Loop) -> tuple[Node, ...]:
        key = id(loop)
        if key not in self._left:
            self._left[key] = left_at_once(self._file, loop)
        return self._left[key]

    def _leaves_all(self, ends: tuple[Node, ...]) -> bool:
        """Whether what leaves a loop leaves those around it, too: a `break` does not, nor for certain what stands in a
        `try`, or an error in a `with` block, which may hold it back."""
        holds = (cst.Try, cst.With) if any(isinstance(end, cst.Raise) for end in ends) else (cst.Try,)
        inside = itertools.takewhile(lambda above: not isinstance(above, SCOPES), self._file.tree.ancestors(ends[0]))
        held = any(isinstance(above, holds) for above in inside)
        return not held and not any(isinstance(end, cst.Break) for end in ends)

    def loop(self, node: Node) -> Loop | None:
        """The innermost loop around a node, or None."""
        return next(iter(self.loops(node)), None)

    def comprehension(self, node: Node) -> Node | None:
        """The comprehension of the same function that evaluates the node once for each item, or None."""
        below: Node = node
        for above in self._file.tree.ancestors(node):
            if isinstance(above, (SCOPES, cst.BaseSmallStatement)):
                return None
            if isinstance(above, COMPREHENSIONS) and not (isinstance(below, cst.CompFor)):
                return above
            below = above
        return None

    def iterated(self, loop: Loop | cst.CompFor) -> Value | None:
        """What a `for` loop or a comprehension's `for` runs over, what it runs through (`enumerate`, `tqdm`, `iter`)
        taken off; None for `while`."""
        if not isinstance(loop, (cst.For, cst.CompFor)):
            return None
        value = self._file.value(loop.iter)
        while isinstance(value, Iterator) and value.function in RUN_THROUGH:
            value = value.of
        return value

    def over_data(self, loop: Loop | cst.CompFor) -> bool:
        """Whether a loop or a comprehension's `for` certainly runs over the elements of a tf.data pipeline."""
        value = self.iterated(loop)
        return value is not None and all(isinstance(option, Dataset) for option in value.options)

    def literal_count(self, loop: Loop) -> int | None:
        """The number of iterations of a loop over a display or a constant `range`, or None."""
        if not isinstance(loop, cst.For):
            return None
        value = self.iterated(loop)
        if isinstance(value, Sequence) and not value.open:
            return len(value.items)
        if isinstance(value, Array) and value.shape:
            return value.shape[0]
        return value.of.count if isinstance(value, Iterator) and isinstance(value.of, Length) else None

    def turns(self, iterated: cst.BaseExpression) -> bool:
        """Whether a loop over this certainly has one turn at least."""
        value = self._file.value(iterated)
        while isinstance(value, Iterator) and value.function in PASSED_ON:
            value = value.of
        if isinstance(value, Devices):
            return True  # done for each device: without any there would be nothing to say about the order
        if isinstance(value, Sequence):
            return not value.open and bool(value.items)
        return isinstance(value, Iterator) and isinstance(value.of, Length) and bool(value.of.count)

    # -- functions ---------------------------------------------------------------------------------------------------

    def function(self, node: Node) -> cst.FunctionDef | cst.Lambda | None:
        """The function or lambda that a node belongs to, or None at module or class level."""
        scope = self._file.scope_of(node)
        return scope if isinstance(scope, FUNCTIONS) else None

    def traced(self, node: Node) -> bool:
        """Whether the node runs inside a traced function: decorated, wrapped by `tf.function`, a Keras `call` or
        `train_step`, mapped over a dataset, or a function that only traced code calls."""
        function = self.function(node)
        while function is not None:
            if self._calls_python and self._given_to(PYTHON_CALLS, function):
                return False
            if self._function_traced(function):
                return True
            function = self.function(function)
        return False

    @cached_property
    def _calls_python(self) -> bool:
        """Whether the file names one of these APIs at all, under whichever alias."""
        return any(name.rpartition(".")[2] in self._file.source.text for name in PYTHON_CALLS)

    def _function_traced(self, function: cst.FunctionDef | cst.Lambda) -> bool:
        key = id(function)
        if key not in self._traced:
            self._traced[key] = False
            self._traced[key] = self._is_traced(function)
        return self._traced[key]

    def _is_traced(self, function: cst.FunctionDef | cst.Lambda) -> bool:
        file = self._file
        if isinstance(function, cst.FunctionDef):
            if any(file.values.functions.traces(decorator.decorator) for decorator in function.decorators):
                return True
            owner = file.class_of(function)
            if owner is not None and function.name.value in TRACED_METHODS:
                bases = LAYER_AND_LOSS if function.name.value == "call" else LAYER_AND_LOSS[:1]
                derives = file.values.classes.derives
                return any(derives(owner, base) for base in bases) and not self._asks_numpy(owner)
        if self._given_to(TRACERS, function):
            return True
        # Else every place that calls it or gives it away (to `strategy.run`, say) must be traced code.
        uses = file.call_graph.uses(function)
        return bool(uses) and isinstance(function, cst.FunctionDef) and all(self.traced(use) for use in uses)

    def _asks_numpy(self, owner: cst.ClassDef) -> bool:
        """Whether a method that Keras would trace asks a tensor for its NumPy array, which a trace cannot give: such a
        model only ever runs eagerly."""
        methods = [m for m in owner.body.body if isinstance(m, cst.FunctionDef) and m.name.value in TRACED_METHODS]
        return any(
            isinstance(call, cst.Call)
            and isinstance(call.func, cst.Attribute)
            and call.func.attr.value == "numpy"
            and not call.args
            and not self.conditional(call, method)
            for method in methods
            for call in own_nodes(method, cst.Call)
        )

    def _given_to(self, names: frozenset[str], function: cst.FunctionDef | cst.Lambda) -> bool:
        """Whether one of these APIs is given the function."""
        graph = self._file.call_graph
        takers = map(graph.given_to, graph.uses(function))
        return any(call is not None and call.name in names for call in takers)

    def per_item(self, node: Node, depth: int = 2) -> bool:
        """Whether the node runs once for each item of something: in a loop, a comprehension, a generator or lambda, in
        a function that something maps over items, or in a function of the module that is called from there."""
        if self.loop(node) is not None or self.comprehension(node) is not None:
            return True
        function = self.function(node)
        if function is None:
            return False
        if isinstance(function, cst.Lambda) or self._file.yields(function):
            return True
        graph = self._file.call_graph
        takers = [call for call in map(graph.given_to, graph.uses(function)) if call is not None]
        if any(call.name in PYTHON_CALLS or call.method in MAPS for call in takers):
            return True
        callers = graph.callers(function) if depth > 0 else ()
        return any(self.per_item(call.node, depth - 1) for call in callers or ())

    def mapped(self, node: Node) -> bool:
        """Whether the node belongs to a function that `Dataset.map` or its like is given."""
        function = self.function(node)
        return function is not None and bool(self._file.call_graph.mappers(function))

    # -- code that is switched off -----------------------------------------------------------------------------------

    @cached_property
    def unreached(self) -> Unreached:
        """The code of the file that certainly never runs."""
        return Unreached(self._file)

    def never_runs(self, node: Node) -> bool:
        """Whether the node certainly never runs: below a condition that constants of the file decide, behind a
        `return`, or in a method that is defined again in its class."""
        return self.unreached.holds(node)

    # -- blocks ------------------------------------------------------------------------------------------------------

    def withs(self, node: Node) -> Iterable[cst.With]:
        """The `with` statements of the same function whose body holds the node, innermost first."""
        below: Node = node
        for above in self._file.tree.ancestors(node):
            if above.__class__ in SCOPE_CLASSES:
                return
            if type(above) is cst.With and below is above.body:
                yield above
            below = above

    def entered(self, node: Node, name: str) -> Call | None:
        """The innermost `with` item around the node that calls the API `name`, or None."""
        for block in self.withs(node):
            for item in block.items:
                if isinstance(item.item, cst.Call):
                    call = self._file.call(item.item)
                    if call.name == name:
                        return call
        return None

    def conditional(self, node: Node, within: Node) -> bool:
        """Whether an `if`, loop, `try` or function between `within` and the node may keep the node from running; the
        guard of a main program does not."""
        below: Node = node
        for above in self._file.tree.ancestors(node):
            if above is within:
                return False
            if isinstance(above, (cst.If, cst.For, cst.While, cst.Try, cst.IfExp, cst.Match, *FUNCTIONS)):
                if not (isinstance(above, cst.If) and below is above.body and always(above.test)):
                    return True
            below = above
        return False
