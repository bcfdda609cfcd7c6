"""What the functions do that a pipeline maps over its elements: only arithmetic, only regrouping, something outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.mapped import body, function_of, whole
from tfmemlint.model.transfer.datasets import inner_pipelines
from tfmemlint.model.values import Api, Function, Instance, Step, Unknown, Value, integer
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.syntax.tree import Node

CHANGES = frozenset({"assign", "assign_add", "assign_sub", "append", "update_state"})
"""Methods that change what they are called on: variables, lists, metrics."""

READERS = tuple(Api(name) for name in sorted(knowledge.group("reads_records")))

DISPLAYS = frozenset({"builtins.dict", "builtins.list", "builtins.tuple"})
"""Functions that regroup what they are given."""

SIZES = frozenset({"tf.shape", "tf.size", "tf.rank", "builtins.len"})
"""Functions that look at nothing but the shape, for the new one that a part is given."""


def read_buffer(step: Call) -> int | None:
    """Bytes that the reader of each input of an `interleave` is told to keep ready (`buffer_size`); None where it is
    not told so, or not seen."""
    sizes = {_told_buffer(step, option) for option in step.value_of("map_func").options}
    return sizes.pop() if len(sizes) == 1 else None


def _told_buffer(step: Call, function: Value) -> int | None:
    if isinstance(function, Function):
        inner = inner_pipelines(step, Unknown("the name of a file"))
        readers = [each.call if knowledge.in_group(each.source, "reads_records") else None for each in inner]
    else:
        readers = [function.call] if isinstance(function, Instance) and whole(function) in READERS else []
    sizes = {integer(reader.given("buffer_size")) if reader is not None else None for reader in readers}
    return sizes.pop() if len(sizes) == 1 else None


def cheap(step: Step) -> bool:
    """Whether a mapped function certainly does nothing but arithmetic and reshaping, none of it at random."""
    found = body(step)
    return not found.random and found.only("computes_each_number", "combines_numbers", "rearranges")


def elementwise(step: Step) -> bool:
    """Whether a mapped function certainly gives on a batch what it gives on each example, and computes something:
    arithmetic on whole values only."""
    found, functions = body(step), _functions(step)
    if functions is None or found.random or not found.only("computes_each_number"):
        return False
    nodes = [node for function in functions for node in walk(function.node.body)]
    if any(isinstance(n, (cst.For, cst.While, cst.If, cst.IfExp, cst.Comparison)) or _indexes(n) for n in nodes):
        return False
    called = any(not name.startswith("builtins.") for name in found.names)
    return called or any(isinstance(node, (cst.BinaryOperation, cst.AugAssign)) for node in nodes)


def only_regroups(step: Step) -> bool:
    """Whether a mapped function certainly only picks, reorders, stacks, reshapes or casts parts, so that there is next
    to nothing to compute."""
    functions = _functions(step)
    if functions is None or step.call is None:
        return False
    evaluator = step.call.evaluator
    return not any(_computes(node, evaluator) for f in functions for node in walk(f.node.body))


def changes_outside(step: Step) -> bool:
    """Whether a mapped function certainly changes something outside of itself: a global, a variable, a list."""
    for function in _functions(step, some=True) or ():
        calls = (node.func for node in walk(function.node, cst.Call))
        words = {func.attr.value for func in calls if isinstance(func, cst.Attribute)}
        if words & CHANGES or any(walk(function.node, cst.Global, cst.Nonlocal)):
            return True
    return False


def runs_in_parallel(step: Step) -> bool:
    """Whether a `map` or `interleave` certainly gives the same elements in the same order when several calls run at
    once: its function is seen, draws nothing, calls no Python and changes nothing outside. An interleave must say its
    cycle, which TensorFlow chooses by the parallelism else."""
    found = body(step)
    if found.unseen or found.random or found.does("runs_python") or changes_outside(step):
        return False
    if step.name != "interleave":
        return True
    return step.call is not None and integer(step.call.value_of("cycle_length")) is not None


def takes_batch_apart(step: Step) -> bool:
    """Whether a mapped function may make something else of a batch than a batch: it reshapes it, sums it up, or picks
    an item by its number. False also where the function is not seen."""
    if body(step).does("takes_batch_apart"):
        return True
    nodes = (node for function in _functions(step, some=True) or () for node in walk(function.node.body, cst.Index))
    return any(isinstance(index.value, cst.Integer) for index in nodes)


def _functions(step: Step, *, some: bool = False) -> list[Function] | None:
    """The functions of the file that a step may be given; None where it may be something else, unless `some` are
    enough."""
    value = function_of(step)
    found = [option for option in value.options if isinstance(option, Function)] if value is not None else []
    return found if some or (value is not None and len(found) == len(value.options)) else None


def _computes(node: Node, evaluator: Evaluator) -> bool:
    """Whether a node computes something; the `-1` of an index does not, nor does what gives the same numbers."""
    if isinstance(node, cst.UnaryOperation):
        return not isinstance(node.expression, cst.Integer)
    if isinstance(node, cst.Call):
        names = evaluator.call(node).names
        return not names or not all(_same_numbers(name) for name in names)
    return isinstance(node, (cst.BinaryOperation, cst.AugAssign, cst.Comparison, cst.IfExp))


def _same_numbers(name: str) -> bool:
    """Whether an API gives the numbers that it is given, in another structure, shape or dtype."""
    groups = ("rearranges", "keeps_values")
    return name in DISPLAYS | SIZES or any(knowledge.in_group(name, group) for group in groups)


def _indexes(node: Node) -> bool:
    """A subscript other than the key of a dictionary: it would index the batch."""
    if not isinstance(node, cst.Subscript):
        return False
    index = node.slice[0].slice
    return len(node.slice) != 1 or not (isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString))
