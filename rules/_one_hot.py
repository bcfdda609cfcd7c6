"""One-hot rows: the call that makes them, what they are made of and what they are used for."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Array, Call, Const, Edit, File, integer, statement_lines, written

MAKES = frozenset({
    "tf.one_hot", "tf.keras.ops.one_hot", "tf.keras.backend.one_hot", "tf.keras.utils.to_categorical",
})  # fmt: skip
SAME = frozenset({
    "tf.cast", "tf.identity", "tf.convert_to_tensor", "tf.constant", "tf.stop_gradient", "tf.keras.ops.cast",
    "tf.keras.ops.convert_to_tensor", "tf.keras.backend.cast", "tf.compat.v1.to_float",
})  # fmt: skip

LOOKUPS = frozenset({"gather", "embedding_lookup", "take", "gather_nd"})


@dataclass(frozen=True, slots=True)
class OneHot:
    """One-hot rows and the call that makes them."""

    call: Call

    @property
    def rows(self) -> int | None:
        return integer(self.call.value_of("depth", "num_classes"))

    @property
    def ids(self) -> cst.BaseExpression | None:
        given = self.call.arg("indices", "x")
        return given.expression if given is not None and len(self.call.node.args) <= 3 else None

    @property
    def bytes(self) -> int | None:
        value = self.call.value
        return value.bytes if isinstance(value, Array) else None

    def only_for(self, used: cst.BaseExpression, file: File) -> bool:
        """Whether the rows are made for this product alone: nothing else reads the name they are kept in."""
        if not isinstance(used, cst.Name):
            return True
        definitions = file.definitions(used)
        return all(use is used for d in written(definitions) for use in file.uses_of(d))

    def statement(self, used: cst.BaseExpression, file: File) -> tuple[Edit, ...] | None:
        """What takes the statement away that keeps the rows in a name; None where they cannot be made at their use."""
        if used is self.call.node:
            return ()
        assign = file.tree.parent(self.call.node)
        if not isinstance(used, cst.Name) or not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
            return None
        line, place = file.tree.statement(assign), file.tree.statement(used)
        lines = statement_lines(file, line)
        if lines is None or self.ids is None or file.scope_of(line) is not file.scope_of(place):
            return None
        flow = file.flow(file.scope_of(line))
        here, there = flow.at(line), flow.at(place)
        names = _names(self.ids)
        if any(here.get(name) != there.get(name) for name in names):
            return None
        return (Edit(lines.start, lines.end, ""),)


def _names(node: cst.CSTNode) -> set[str]:
    found = {node.value} if isinstance(node, cst.Name) else set()
    for child in node.children:
        found |= _names(child)
    return found


def one_hot(node: cst.BaseExpression, file: File, depth: int = 6) -> OneHot | None:
    """The one-hot rows that an expression certainly is, through casts and reshapes that keep the rows."""
    node = file.written(node)
    if depth == 0:
        return None
    if isinstance(node, cst.Subscript):
        plain = all(isinstance(e.slice, cst.Slice) or _is_none(e.slice, file) for e in node.slice)
        return one_hot(node.value, file, depth - 1) if plain else None
    if not isinstance(node, cst.Call):
        return None
    call = file.call(node)
    if call.name in MAKES:
        return OneHot(call) if _rows_of_ones(call) else None
    if not node.args:
        return None
    if call.name in SAME:
        return one_hot(node.args[0].value, file, depth - 1)
    if call.name in ("tf.reshape", "tf.keras.ops.reshape"):
        inner = one_hot(node.args[0].value, file, depth - 1)
        return inner if inner is not None and _keeps_rows(call, inner, file) else None
    if call.name in ("tf.expand_dims", "tf.keras.ops.expand_dims") and integer(call.value_of("axis")) in (0, 1, -2):
        return one_hot(node.args[0].value, file, depth - 1)
    return None


def _rows_of_ones(call: Call) -> bool:
    """Whether each row, along the last axis, holds a one among zeros."""
    values = [call.given(name) for name in ("on_value", "off_value")]
    usual = all(not value.known or value.options[0] in (Const(1), Const(1.0), Const(0), Const(0.0)) for value in values)
    given = [name for name in ("on_value", "off_value") if call.arg(name) is not None]
    axis = call.arg("axis")
    return usual and all(call.given(name).known for name in given) and (axis is None or integer(axis.value) == -1)


def _keeps_rows(reshape: Call, made: OneHot, file: File) -> bool:
    """Whether the last size that the reshape asks for is the number of rows."""
    shape, depth = reshape.arg("shape", "newshape"), made.call.arg("depth", "num_classes")
    display = file.written(shape.expression) if shape is not None else None
    if depth is None or not isinstance(display, (cst.List, cst.Tuple)) or not display.elements:
        return False
    last = display.elements[-1].value
    return file.text(last) == file.text(depth.expression) or (
        made.rows is not None and integer(file.value(last)) == made.rows
    )


def _is_none(index: cst.BaseSlice, file: File) -> bool:
    return isinstance(index, cst.Index) and file.value(index.value) == Const(None)


def looks_up(equation: object) -> bool:
    """Whether an einsum contracts the last axis of its first operand with one of the second, and nothing else."""
    text = equation.value if isinstance(equation, Const) else None
    given, _, out = text.replace(" ", "").partition("->") if isinstance(text, str) else ("", "", "")
    first, _, second = given.partition(",")
    if not first or not second or "," in second or not out:
        return False
    return first[-1] in second and first[-1] not in out and not any(c.isalpha() and c not in out for c in first[:-1])


def plain_axes(call: Call) -> bool:
    axes = call.arg("axes")
    if axes is None:
        return False
    return integer(axes.value) == 1 or axes.evaluator.file.text(axes.expression).replace(" ", "") in (
        "[[-1],[0]]", "[[1],[0]]", "[[2],[0]]", "([-1],[0])", "([1],[0])", "[1,0]", "[-1,0]", "(1,0)", "(-1,0)",
        "((1,),(0,))", "((-1,),(0,))",
    )  # fmt: skip


def looked_up_elsewhere(node: cst.CSTNode, file: File) -> bool:
    """Whether the code looks rows up in the other branch of an `if`, or there and returns: the product is chosen here,
    for TPUs."""
    lookups = [call for name in LOOKUPS for call in file.calls_by_word.get(name, ())]
    for above in file.tree.ancestors(node):
        if isinstance(above, cst.If) and above.orelse is not None:
            if any(file.tree.contains(above, call) for call in lookups):
                return True
    function = file.contexts.function(node)
    return function is not None and any(
        isinstance(file.tree.parent(call), cst.Return)
        and file.tree.contains(function, call)
        and file.contexts.conditional(call, function)
        for call in lookups
    )
