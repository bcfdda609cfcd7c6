"""The dtype that a tensor needs where it takes the place of a Python number that a function is given.

A Python number takes the dtype of what it meets; a tensor has its own, and TensorFlow converts none: `x / (n + 1)` of
floats raises where `n` is `tf.constant(3)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Array, Function
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.tracing.number_kinds import number_kinds
from tfmemlint.query.tracing.python_values import is_python
from tfmemlint.query.tracing.traces import parameter_of
from tfmemlint.syntax.names import is_variable
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

Needs = frozenset[str]
"""What tensors must be: dtypes, "float" or "int" for any such, `UNSEEN` for that of something that is not known."""

UNSEEN = "unseen"
TAKES_ANY = frozenset({"tf.cast", "tf.saturate_cast", "tf.print", "builtins.print", "tf.keras.ops.cast"})
TAKES_TEXT = ("tf.strings.", "tf.io.", "tf.image.decode")
ELEMENTWISE = frozenset({"tf.pow", "tf.multiply", "tf.add", "tf.subtract", "tf.maximum", "tf.minimum", "tf.divide"})
OTHER_FLOATS = frozenset({"float16", "float64", "bfloat16", "double", "half", "mixed_float16", "mixed_bfloat16"})
NONE: Needs = frozenset()
FLOAT = frozenset({"float"})
WHOLE = frozenset({"int"})
TEXT = frozenset({"str"})
PASSED_ON = (cst.Return, cst.Expr, cst.BooleanOperation, cst.If, cst.Assert)
"""What takes a tensor of any dtype, as it takes a number."""


def dtype_for(file: File, function: Function, name: str, value: cst.BaseExpression) -> str | None:
    """The dtype with which `tf.constant(value)` can certainly stand for a Python number or string that a parameter is
    given: "" where it has the right one by itself, None where not all uses of the parameter are known.

    Tensors that are not known are taken for float32 where the number is or meets a float, and the file names no other
    float dtype.
    """
    needs, kinds = _needed(file, function, name, FOLLOWED_CALLS), number_kinds(file, value)
    if needs is None:
        return None
    if kinds == TEXT:
        return "" if not needs - {UNSEEN} else None
    exact = needs - {"float", "int", UNSEEN}
    floats = "float" in needs | (kinds or NONE) or any("float" in dtype for dtype in exact)
    whole = "int" in needs or any("int" in dtype for dtype in exact)
    if len(exact) > 1 or (floats and whole) or (UNSEEN in needs and not (floats and _only_float32(file))):
        return None
    dtype = next(iter(exact), "float32" if floats else "")
    return "" if (dtype, kinds) in (("float32", FLOAT), ("int32", WHOLE)) else dtype


@once_per_file
def _only_float32(file: File) -> bool:
    """Whether the file names no float dtype but float32."""
    named = {node.attr.value for node in file.tree.of(cst.Attribute)}
    named |= {node.value.strip("'\"") for node in file.tree.of(cst.SimpleString)}
    return OTHER_FLOATS.isdisjoint(named)


def _needed(file: File, function: Function, name: str, left: int) -> Needs | None:
    if all(param.name.value != name for param in parameters(function.node)):
        return None
    return _Number(file, function.node, left).named(name)


class _Number:
    """One question: what tensors that take the place of names in a function must be; None where that is not known."""

    def __init__(self, file: File, function: cst.FunctionDef | cst.Lambda, left: int) -> None:
        self._file, self._function, self._left = file, function, left
        self._followed: set[str] = set()

    def named(self, name: str) -> Needs | None:
        """What all uses of a name need; None also where it is bound again."""
        bindings = self._file.flow(self._function).bindings.get(name, ())
        if len(bindings) != 1 or name in self._followed:
            return None
        self._followed.add(name)
        named = (node for node in walk(self._function.body, cst.Name) if node.value == name)
        read = [n for n in named if is_variable(self._file, n) and not _is_target(self._file, n)]
        found = [self._used(use, name) for use in read]
        known = [each for each in found if each is not None]
        return NONE.union(*known) if len(known) == len(found) else None

    def _used(self, use: Node, name: str) -> Needs | None:
        """What one use needs, of all that the code makes of it by arithmetic until it meets a tensor."""
        needs, below = NONE, use
        for above in self._file.tree.ancestors(use):
            if isinstance(above, cst.BinaryOperation):
                met = self._met(above.right if above.left is below else above.left, name)
                needs |= met | (FLOAT if isinstance(above.operator, cst.Divide) else NONE)
                if met - FLOAT:
                    return needs
            elif not isinstance(above, (cst.ComparisonTarget, cst.UnaryOperation)):
                ends = self._ends(above, below, name)
                return None if ends is None else needs | ends
            below = above
        return None

    def _ends(self, above: Node, below: Node, name: str) -> Needs | None:
        """What needs the code that takes the result."""
        if above is self._function or isinstance(
            above, (cst.Return, cst.Expr, cst.BooleanOperation, cst.If, cst.Assert)
        ):
            return NONE
        if isinstance(above, cst.IfExp):
            return NONE if above.test is below else None
        if isinstance(above, cst.Comparison):
            sides = (above.left, *(each.comparator for each in above.comparisons))
            return NONE.union(*(self._met(side, name) for side in sides))
        if isinstance(above, (cst.Slice, cst.Index)):
            return WHOLE
        if isinstance(above, cst.AugAssign):
            return self._met(above.target, name) | (FLOAT if isinstance(above.operator, cst.DivideAssign) else NONE)
        if isinstance(above, cst.Assign):
            target = above.targets[0].target
            return self.named(target.value) if isinstance(target, cst.Name) and len(above.targets) == 1 else None
        return self._passed(above, below, name) if isinstance(above, cst.Arg) else None

    def _met(self, other: cst.BaseExpression, name: str) -> Needs:
        """What an operator of a tensor and another operand needs of the tensor."""
        if isinstance(other, cst.Name) and other.value == name:
            return NONE
        kinds = number_kinds(self._file, other) if is_python(self._file, other) else None
        if kinds is not None:
            return FLOAT & kinds
        options = self._file.value(other).options
        if all(isinstance(option, Array) and option.dtype is not None for option in options):
            return frozenset(str(getattr(option, "dtype", "")) for option in options)
        if isinstance(other, cst.BinaryOperation):
            return self._met(other.left, name) | self._met(other.right, name)
        return frozenset({UNSEEN})

    def _passed(self, arg: cst.Arg, below: Node, name: str) -> Needs | None:
        node = self._file.tree.parent(arg)
        call = self._file.call(node) if isinstance(node, cst.Call) else None
        if call is None or arg.star:
            return None
        if call.name in TAKES_ANY or (call.name or "").startswith(TAKES_TEXT):
            return NONE
        if (call.name or "").startswith("tf.summary."):
            step = arg.keyword.value == "step" if arg.keyword is not None else call.node.args.index(arg) > 1
            return frozenset({"int64"}) if step else NONE
        if call.name in ELEMENTWISE:
            return NONE.union(*(self._met(other.value, name) for other in call.node.args if other is not arg))
        target = call.target
        if isinstance(target, Function) and self._left and isinstance(below, cst.Name):
            return _needed(self._file, target, parameter_of(call, arg), self._left - 1)
        return None


def _is_target(file: File, name: cst.Name) -> bool:
    return isinstance(file.tree.parent(name), cst.AssignTarget)
