"""Plain operations on tensors: arithmetic, items, functions of TensorFlow and of Keras' backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import lacking, objects, shaped
from tfmemlint.estimate.facts.asked import Arguments, Asked
from tfmemlint.estimate.facts.recorded import Node
from tfmemlint.estimate.facts.values import NONE, Lacks, Listed, Traced, leaves, plain, traced
from tfmemlint.knowledge import shapes
from tfmemlint.model.transfer import transfer
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Const, Sequence, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

NAMES = {
    "Add": "add", "Subtract": "subtract", "Multiply": "multiply", "Divide": "divide", "Power": "power",
    "MatrixMultiply": "matmul", "FloorDivide": "floor_divide", "Modulo": "mod",
}  # fmt: skip
"""Operators, by the names of the functions that do the same."""


@dataclass(frozen=True, slots=True, eq=False)
class TensorMethod(Value):
    """A method of a tensor."""

    receiver: Traced
    name: str


def line_of(machine: Machine, node: cst.CSTNode | None) -> int:
    """The line of a node in the file's program text, from 1; 0 for none, and for one of another module."""
    if node is None or not machine.file.is_own(node):
        return 0
    try:
        return machine.file.source.line_index(machine.file.spans[node][0]) + 1
    except KeyError:
        return 0


def step_line(machine: Machine, node: cst.CSTNode) -> int:
    """The line at which a step stands: of one in another module, that of this file's call which leads there."""
    return next((line for each in (node, *reversed(machine.calling)) if (line := line_of(machine, each))), 0)


def note(
    machine: Machine, kind: str, given: list[Traced], made: Value, node: cst.CSTNode | None, why: str = "",
    lacks: Lacks = (),
) -> Value:  # fmt: skip
    """Note an operation that gives a tensor, or a structure of tensors."""
    outputs: list[int] = []

    def numbered(value: Value) -> Value:
        if isinstance(value, Sequence):
            return Sequence(tuple(map(numbered, value.items)), value.kind, value.open)
        if not isinstance(value, Array):
            return value
        library = "keras" if any(t.library == "keras" for t in given) else "tf"
        tensor = machine.record.tensor(value.shape, value.dtype, library)
        outputs.append(tensor.number)
        return tensor

    found = numbered(made)
    inputs = tuple(t.number for t in given)
    machine.record.add(Node(kind, line_of(machine, node), inputs, tuple(outputs), why=why, lacks=lacks))
    return found


def unknown(machine: Machine, kind: str, given: list[Traced], node: cst.CSTNode | None, lacks: Lacks = ()) -> Value:
    """Note an operation of which the result is not known."""
    return note(machine, kind, given, Array("tf", None, None), node, f"what `{kind}` gives", lacks)


def arithmetic(machine: Machine, name: str, left: Value, right: Value, node: cst.CSTNode) -> Value:
    """`left op right`, where one is a tensor."""
    given = [each for each in (left, right) if isinstance(each, Traced)]
    kind = NAMES.get(name, name.lower())
    made = plain(left).binary(name, plain(right))
    if not isinstance(made, Array):
        known = [t for t in given if t.shape is not None]
        other = right if isinstance(left, Traced) else left
        scalar = not isinstance(plain(other), (Array, Sequence))
        if len(known) == 1 and scalar and len(given) == 1:  # a number that is not known
            made = Array(known[0].library, known[0].dtype, known[0].shape)
        else:
            return unknown(machine, kind, given, node, (*lacking.of_tensors(left), *lacking.of_tensors(right)))
    return note(machine, kind, given, made, node, "" if made.shape is not None else f"what `{kind}` gives")


def elementwise(machine: Machine, kind: str, operand: Traced, node: cst.CSTNode | None) -> Value:
    """An operation that keeps the shape."""
    return note(machine, kind, [operand], Array(operand.library, operand.dtype, operand.shape), node)


def subscript(machine: Machine, base: Traced, indices: list[Value | slice], node: cst.CSTNode | None) -> Value:
    """`tensor[...]`."""
    made = plain(base).subscript([_plain_index(each) for each in indices])
    found = note(machine, "get_item", [base], made if isinstance(made, Array) else Array("tf"), node)
    machine.record.now[-1].again = lambda now: plain(now.get(base.number, base)).subscript(
        [_plain_index(each) for each in indices]
    )
    return found


def _plain_index(index: Value | slice) -> Value | slice:
    if isinstance(index, Value):
        return plain(index)
    return slice(*(plain(bound) for bound in (index.start, index.stop, index.step)))


def attribute(machine: Machine, base: Traced, name: str) -> Value:
    """`tensor.name`."""
    if name == "shape" and base.library == "keras" and base.shape is not None:
        return Sequence(tuple(map(Const, base.shape)))
    if name in ("shape", "dtype", "size", "ndim"):
        return plain(base).attribute(name)
    if name in ("_keras_shape", "_shape"):
        return plain(base).attribute("shape")
    if name == "T":
        shape = base.shape[::-1] if base.shape is not None else None
        return note(machine, "transpose", [base], Array("tf", base.dtype, shape), None)
    return TensorMethod(base, name)


def tensor_method(machine: Machine, method: TensorMethod, given: Arguments, node: cst.Call) -> Value:
    """A method of a tensor."""
    name, tensor = method.name, method.receiver
    if name in ("numpy", "set_shape", "get_shape"):
        return plain(tensor).attribute("shape") if name == "get_shape" else tensor if name == "numpy" else NONE
    if name in ("assign", "assign_add", "assign_sub"):
        return tensor
    found = plain(tensor).attribute(name)
    call = Asked(node, machine.evaluator, found, given)
    made = transfer(call, found)
    if isinstance(made, Array):
        return note(machine, name, [tensor], made, node)
    return unknown(machine, name, [tensor], node)


def function(machine: Machine, name: str, target: Value, given: Arguments, node: cst.Call) -> Value:
    """A function of a library that is given tensors."""
    tensors = [t for value in (*given.positions, *given.names.values()) for t in traced(value)]
    kind = name.rpartition(".")[2]
    if kind in ASKS_SIZE:
        return _asked_size(kind, tensors[0])
    made = _made(machine, name, target, given, node)
    if isinstance(made, Array) or (isinstance(made, Sequence) and made.items and not made.open):
        arrays = [leaf for leaf in elements(made) if isinstance(leaf, Array)]
        if arrays and len(arrays) == len(elements(made)):
            shown = all(leaf.shape is not None for leaf in arrays)
            why, lacks = "" if shown else f"what `{kind}` gives", lacking.of_arguments(given, kind in shapes.OF_TENSORS)
            found = note(machine, kind, tensors, made, node, why, lacks)
            machine.record.now[-1].again = lambda now: _made(machine, name, target, _replaced(given, now), node)
            return found
        return made
    if made is not None:
        return made
    found = unknown(machine, kind, tensors, node, lacking.of_arguments(given, kind in shapes.OF_TENSORS))
    machine.record.now[-1].again = lambda now: _made(machine, name, target, _replaced(given, now), node)
    return found


def of_arrays(machine: Machine, name: str, target: Value, given: Arguments, node: cst.Call) -> Value | None:
    """What a function gives of arrays that are no data of a step, such as places; None where it is not known."""
    arrays = [leaf for value in given.positions for leaf in leaves(value) if isinstance(leaf, Array)]
    if not arrays:
        return None
    numbered = [Traced(each.library, each.dtype, each.shape, number=-1) for each in arrays]
    return shaped.shape(name, numbered, Asked(node, machine.evaluator, target, given))


def _made(machine: Machine, name: str, target: Value, given: Arguments, node: cst.Call) -> Value | None:
    """What a function gives of these arguments; None where it is not known."""
    call = Asked(node, machine.evaluator, target, given)
    tensors = [t for value in (*given.positions, *given.names.values()) for t in traced(value)]
    row = shaped.in_one_row(name, tensors[0], call) if tensors else None
    if row is not None:
        return row
    made = transfer(call, target)
    if not isinstance(made, (Unknown, Array)) or (isinstance(made, Array) and shaped.is_whole(made)):
        return made
    found = shaped.shape(name, tensors, call) if tensors else None
    if isinstance(made, Array) and made.shape is not None and (found is None or not shaped.is_whole(found)):
        return made
    return found if found is not None else made if isinstance(made, Array) else None


def _replaced(given: Arguments, now: dict[int, Traced]) -> Arguments:
    """Arguments with other tensors in place of those that they have."""

    def other(value: Value) -> Value:
        if isinstance(value, Traced):
            return now.get(value.number, value)
        if isinstance(value, Sequence):
            return Sequence(tuple(map(other, value.items)), value.kind, value.open)
        if isinstance(value, Listed) and isinstance(value.items, Sequence):
            return objects.new_list(Sequence(tuple(map(other, value.items.items)), "list", value.items.open))
        return value

    names = {name: other(value) for name, value in given.names.items()}
    return Arguments(tuple(map(other, given.positions)), names, given.open)


ASKS_SIZE = frozenset({"shape", "int_shape", "ndim", "rank", "size", "is_keras_tensor", "is_tensor"})
"""Functions that ask a tensor how large it is."""


def _asked_size(kind: str, tensor: Traced) -> Value:
    if kind.startswith("is_"):
        return Const(True)
    if kind in ("ndim", "rank"):
        return plain(tensor).attribute("ndim")
    if kind == "size" or tensor.shape is None:
        return Unknown(kind)
    static = kind == "int_shape"  # the others give what is there when the step runs
    return Sequence(tuple(Const(n) if n is not None or static else Unknown("a size") for n in tensor.shape))
