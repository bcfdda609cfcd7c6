"""Where NumPy arrays go: into TensorFlow, into methods that cast them anyway, or only to the eyes of somebody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.transfer.table import dtype_of, elements
from tfmemlint.model.values import Array
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.syntax.names import names_any
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

SHAPE = frozenset({"shape", "ndim", "size"})
ROUNDS = frozenset({"np.clip", "np.round", "np.around", "np.rint"})


OF_TENSORS = frozenset({"numpy", "shape", "dtype", "ndim"})
"""Attributes that tensors and NumPy arrays both have."""


def only_of_arrays(use: Use) -> bool:
    """Whether code does what a NumPy array can and a tensor cannot: it asks for an attribute or method that tensors are
    not known to have, or sets an item."""
    return (use.does in (Does.METHOD, Does.READ) and use.word not in OF_TENSORS) or use.does is Does.SET


def arrays_taken(call: Call) -> list[Array]:
    """The NumPy arrays that a call takes into TensorFlow, also in tuples and mappings, and each of their alternatives.

    None where it is given a dtype, since it decides itself, and none of what is not known to be an array.
    """
    parameters = knowledge.group_parameters("takes_arrays").get(call.name or "", ())
    given = [] if call.arg("dtype") is not None else [call.value_of(parameter) for parameter in parameters]
    leaves = (leaf for value in given for option in value.options for leaf in elements(option))
    return [leaf for leaf in leaves if isinstance(leaf, Array) and leaf.library == "np"]


@dataclass(frozen=True, slots=True)
class Entering:
    """A NumPy array that a call takes into TensorFlow."""

    taker: Call
    array: Array


def _entering(file: File) -> Iterator[Entering]:
    takers = file.calls(*knowledge.group("takes_arrays"))
    for call in sorted(takers, key=lambda call: file.tree.order(call.node)):
        yield from (Entering(call, array) for array in arrays_taken(call))


arrays_entering = Fact(_entering, *knowledge.group_parameters("takes_arrays"))
"""Each NumPy array that a call takes into TensorFlow: see `arrays_taken`."""


@once_per_file
def joined_arrays(file: File) -> list[list[Array]]:
    """For each arithmetic expression, and each `np.concatenate` and its like, the arrays of which it makes one: what
    they have in common decides its dtype. Those of which nothing is known are left out."""
    parts = [[node.left, node.right] for node in file.tree.of(cst.BinaryOperation)]
    given = (call.arg(0) for call in file.calls(*knowledge.group("joins_arrays")))
    displays = (arg.expression for arg in given if arg is not None)
    parts += [[e.value for e in each.elements] for each in displays if isinstance(each, (cst.List, cst.Tuple))]
    values = [[file.value(node) for node in nodes] for nodes in parts]
    return [[value for value in each if isinstance(value, Array)] for each in values]


def only_cast(file: File, array: Node) -> bool:
    """Whether the program does nothing with a NumPy array but give it to methods of Keras that cast it to `floatx()`,
    under names of its own, as parts or reshaped, and ask for its shape: whether it is float32 before cannot be seen.

    False where one use is not seen, where there is none, and where the program sets `floatx()`.
    """
    return not any(file.calls(*knowledge.group("sets_floatx"))) and _goes_only(file, array, _into_cast, parts=True)


def only_shown(file: File, array: Node) -> bool:
    """Whether an array, or what is computed of it by arithmetic, only goes to plots, image files or the log, or is cast
    back to integers; False where one use is not seen or there is none."""
    return _goes_only(file, array, _to_show, parts=False)


def _goes_only(file: File, array: Node, end: Callable[[Use], bool | Node], *, parts: bool) -> bool:
    """Whether all uses of an array end as `end` wants it: that gives True, False or another array to look at."""
    waiting, seen = [array], set[Node]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            found = list(uses(file, node, parts=parts, containers=parts))
            ends = [end(use) for use in found]
            if not ends or False in ends or any(_displayed(file, use.node) for use in found):
                return False
            waiting += [each for each in ends if not isinstance(each, bool)]
    return True


def _displayed(file: File, node: Node) -> bool:
    """Whether a name that stands for the array, or a part of it, is a statement of its own: a notebook shows that."""
    names = {name.value for name in walk(node, cst.Name)}
    shown = (each.value for each in file.tree.of(cst.Expr) if isinstance(each.value, (cst.Name, cst.Subscript)))
    return any(names_any(value, names) for value in shown)


def _into_cast(use: Use) -> bool | Node:
    """Whether a use has the array cast or does not care for its dtype; the call where that gives the array back."""
    if use.does is Does.READ:
        return use.word in SHAPE
    call = use.call
    if call is None or use.does not in (Does.METHOD, Does.PASS):
        return use.does is Does.DELETE
    if knowledge.in_group(call.name, "keeps_array"):
        first = use.does is Does.METHOD or call.node.args[0] is use.argument
        return call.node if first else False
    casts = knowledge.group_parameters("casts_to_floatx").get(call.name or "", ())
    cast = use.argument is not None and any(call.receives(parameter, use.argument) for parameter in casts)
    return cast or knowledge.in_group(call.name, "reads_shape")


def _to_show(use: Use) -> bool | Node:
    """Whether a use shows the array or makes integers of it; the expression where it rounds or computes with it."""
    call = use.call
    if use.does is Does.COMPUTE and isinstance(use.place, cst.BinaryOperation):
        return use.place
    if use.does is Does.METHOD and use.word == "astype" and call is not None:
        return "int" in (dtype_of(call.value_of("dtype"), "float64") or "")
    if use.does is not Does.PASS or call is None:
        return False
    if call.name in ROUNDS:
        return call.node
    name = call.name or ""
    return knowledge.in_group(name, "shows") or (name.startswith("np.") and "int" in name)
