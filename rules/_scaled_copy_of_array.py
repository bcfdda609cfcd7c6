"""What is computed with an array that was converted for it, and how to write that in place."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Call, Const, Edit, File, Length, fixes, flow, knowledge

IN_PLACE = {cst.Add: "+=", cst.Subtract: "-=", cst.Multiply: "*=", cst.Divide: "/="}


def is_copy(copy: Call) -> bool:
    """Whether a call certainly gives a new array of float32 or float16, which NumPy does not scale in place itself."""
    made, data = copy.value, copy.value_of(0)
    if not isinstance(made, Array) or made.library != "np" or made.dtype not in ("float16", "float32"):
        return False
    if copy.name == "np.float32":  # of float32 it gives the array itself
        return isinstance(data, Array) and (data.dtype or "").startswith(("int", "uint"))
    return not copy.open and not copy.given("copy").known


def scalings_of(file: File, copy: Call) -> list[cst.BinaryOperation]:
    """The operations with a Python number on what a call copies, the first one first, before anything else has it."""
    node: cst.CSTNode = copy.node
    found: list[cst.BinaryOperation] = []
    while True:
        above = file.tree.parent(node)
        if isinstance(above, cst.Attribute) and isinstance(file.tree.parent(above), cst.Call):
            call = file.tree.parent(above)
            if found or not isinstance(call, cst.Call) or not knowledge.in_group(file.call(call).name, "keeps_array"):
                return found
            node = call
        elif isinstance(above, cst.BinaryOperation) and above.left is node and type(above.operator) in IN_PLACE:
            if not isinstance(file.value(above.right), (Const, Length)):
                return found
            found.append(above)
            node = above
        else:
            return found or _scaled_later(file, node, above)


def _scaled_later(file: File, node: cst.CSTNode, assign: cst.CSTNode | None) -> list[cst.BinaryOperation]:
    """The same where the copy has a name that is given its multiple at once: `x = x.astype(...)`, `x = x / 255.0`."""
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return []
    target = assign.targets[0].target
    uses = [u.node for u in flow.uses(file, node)]
    above = file.tree.parent(uses[0]) if len(uses) == 1 else None
    again = file.tree.parent(above) if isinstance(above, cst.BinaryOperation) and above.left is uses[0] else None
    if not isinstance(above, cst.BinaryOperation) or not isinstance(again, cst.Assign) or len(again.targets) != 1:
        return []
    number = type(above.operator) in IN_PLACE and isinstance(file.value(above.right), (Const, Length))
    same = isinstance(target, cst.Name) and file.text(again.targets[0].target) == target.value
    return [above] if number and same else []


def in_place(file: File, copy: Call, scaled: list[cst.BinaryOperation]) -> tuple[Edit, ...] | None:
    """The same operations as statements below; None where what they give has no name of its own, or lines share."""
    assign = file.tree.parent(scaled[-1])
    line = file.tree.statement(scaled[-1])
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or not isinstance(line, cst.SimpleStatementLine):
        return None
    target, first = assign.targets[0].target, scaled[0].left
    lines = fixes.statement_lines(file, line)
    if not isinstance(target, cst.Name) or lines is None or "#" in file.text(scaled[-1]):
        return None
    steps = [f"{target.value} {IN_PLACE[type(s.operator)]} {file.text(s.right)}" for s in scaled]
    if not file.tree.contains(first, copy.node):  # the copy has that name already
        whole = file.span(assign)
        return (Edit(whole.start, whole.end, steps[0]),)
    whole, inner = fixes.outer_span(file, scaled[-1]), fixes.outer_span(file, first)
    text = file.source.text[inner.start : inner.end]
    return Edit(whole.start, whole.end, text), fixes.insert_after(file, line, "\n".join(steps))
