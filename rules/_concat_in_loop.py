"""Names that a loop adds parts to, `acc = concat([acc, part])`, and collecting them in a list instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from tfmemlint.api import Call, Const, Edit, File, Fix, Loop, Node, Sequence, dotted, fixes, integer, tensors, walk

JOINS = frozenset({"tf.concat", "tf.keras.ops.concatenate", "np.concatenate", "np.vstack", "np.hstack"})
GIVEN = frozenset({"values", "arrays", "tup", "arr", "xs", "x1", "x2"})
"""Parameters that get what is joined."""

SAYS = frozenset({
    "print", "info", "debug", "warning", "log", "write", "set_description", "set_postfix", "set_postfix_str",
})  # fmt: skip
MEASURES = frozenset({"len", "shape", "int", "str", "format", "tuple", "as_list", "numpy"})


@dataclass(frozen=True, slots=True)
class Collected:
    """What is collected: its name, the parts that are added, and the statement that does it."""

    name: str
    others: tuple[cst.BaseExpression, ...]
    assign: cst.Assign
    file: File

    def before(self, loop: Loop) -> list[cst.BaseExpression]:
        """What it is before the loop, as far as it is written in the file."""
        known = self.file.flow(self.file.scope_of(loop)).at(loop).get(self.name, ())
        values = [d.value for d in known if not d.path]
        if not values and "." in self.name:
            makings = self.file.assigned_paths.get(self.name, ())
            values = [each.value for each in makings if each is not self.assign]
        return [value for value in values if isinstance(value, cst.BaseExpression)]

    def starts_empty(self, loop: Loop) -> bool:
        """Whether it is an empty tensor or list before the loop."""
        before = self.before(loop)
        return bool(before) and all(tensors.is_empty(self.file, value) for value in before)

    def starts_as_none(self, loop: Loop) -> bool:
        before = self.before(loop)
        return bool(before) and all(self.file.value(value) == Const(None) for value in before)

    def is_used_otherwise(self, loop: Loop) -> bool:
        """Whether the loop reads, cuts back or starts again what is collected; printing it or its length does not
        count, nor what begins it (`if acc is None: acc = x`)."""
        if isinstance(loop, cst.While) and next(_named(loop.test, self.name, self.file), None) is not None:
            return True
        for node in _named(loop.body, self.name, self.file):
            if not self.file.tree.contains(self.assign, node) and not self._begins(node, loop):
                if not _is_said(self.file, node):
                    return True
        return False

    def _begins(self, node: Node, loop: Loop) -> bool:
        below = node
        for above in self.file.tree.ancestors(node):
            if above is loop:
                return False
            if isinstance(above, cst.If):
                decides = self.file.tree.contains(above, self.assign) or self._asks_empty(above.test)
                if decides and (below is above.test or self._is_written(node)):
                    return True
            below = above
        return False

    def _is_written(self, node: Node) -> bool:
        above = self.file.tree.parent(node)
        while isinstance(above, (cst.Element, cst.Tuple)):
            above = self.file.tree.parent(above)
        assign = self.file.tree.parent(above) if isinstance(above, cst.AssignTarget) else None
        return isinstance(assign, cst.Assign) and next(_named(assign.value, self.name, self.file), None) is None

    def _asks_empty(self, test: cst.BaseExpression) -> bool:
        """`acc is None`, `not acc`, `len(acc) == 0`, `acc == []`."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            return dotted(test.expression) == self.name
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return False
        left, right = test.left, self.file.value(test.comparisons[0].comparator)
        if isinstance(left, cst.Call) and self.file.call(left).method == "len" and left.args:
            return dotted(left.args[0].value) == self.name and integer(right) == 0
        return dotted(left) == self.name and right in (Const(None), Sequence((), "list"))


def collected(file: File, concat: Call) -> Collected | None:
    """What a call that joins tensors adds to, where its result becomes one of them again."""
    target, assign = _target(file, concat.node)
    name, parts = dotted(target) if target is not None else None, _parts(concat)
    if name is None or parts is None or assign is None:
        return None
    others = tuple(part for part in parts if dotted(part) != name)
    named = any(next(_named(part, name, file), None) is not None for part in others)
    return Collected(name, others, assign, file) if others and len(others) < len(parts) and not named else None


def _target(file: File, value: Node) -> tuple[Node | None, cst.Assign | None]:
    """What an expression is assigned to, also in a tuple with others, or where a condition chooses it."""
    above = file.tree.parent(value)
    if isinstance(above, cst.IfExp):
        above = file.tree.parent(above)
    row = file.tree.parent(above) if isinstance(above, cst.Element) else None
    position = next((i for i, e in enumerate(row.elements) if e is above), None) if isinstance(row, cst.Tuple) else None
    assign = above if row is None else file.tree.parent(row)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None, None
    target: Node = assign.targets[0].target
    if row is None:
        return target, assign
    if position is None:
        return None, None
    places = target.elements if isinstance(target, cst.Tuple) else ()
    return (places[position].value, assign) if position < len(places) else (None, None)


def _parts(concat: Call) -> list[cst.BaseExpression] | None:
    given = [a.value for a in concat.node.args if a.keyword is None or a.keyword.value in GIVEN]
    if concat.method == "append":
        return given[:2]
    first = given[0] if given else None
    return [e.value for e in first.elements] if isinstance(first, (cst.List, cst.Tuple)) else None


def _named(code: Node, name: str, file: File) -> Iterator[Node]:
    """The places where some code names this, read or written."""
    for node in walk(code, cst.Name, cst.Attribute, cst.Subscript):
        parent = file.tree.parent(node)
        is_attribute = isinstance(parent, cst.Attribute) and parent.attr is node
        if dotted(node) == name and not is_attribute and not (isinstance(parent, cst.Arg) and parent.keyword is node):
            yield node


def _is_said(file: File, node: Node) -> bool:
    """Whether a name is read to be printed, and not to compute something with it."""
    for above in file.tree.ancestors(node):
        if isinstance(above, cst.Call):
            if file.call(above).method in SAYS:
                break
            if file.call(above).method not in MEASURES:
                return False
    line = file.tree.statement(node)
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
    call = first.value if isinstance(first, cst.Expr) else None
    return isinstance(call, cst.Call) and file.call(call).method in SAYS


# -- the repair ------------------------------------------------------------------------------------------------------


def collect_in_list(file: File, concat: Call, found: Collected, loop: Loop) -> Fix | None:
    """`acc = concat([acc, x])` in a loop as `parts.append(x)`, with one `concat` after it; None where the loop needs
    more than that."""
    target, text = found.assign.targets[0].target, file.source.text
    display = next((a.value for a in concat.node.args if isinstance(a.value, (cst.List, cst.Tuple))), None)
    if concat.name not in JOINS or display is None or len(display.elements) != 2 or file.contexts.traced(concat.node):
        return None
    first, other = (element.value for element in display.elements)
    parts = found.name.rpartition(".")[2] + "_parts"
    if dotted(first) != found.name or dotted(target) != found.name or not _is_plain(loop) or file.loads(parts):
        return None
    call, shown, at = (
        fixes.outer_span(file, concat.node),
        fixes.outer_span(file, display),
        fixes.outer_span(file, other),
    )
    joined = f"{text[call.start : shown.start]}{parts}{text[shown.end : call.end]}"
    append = f"{parts}.append({text[at.start : at.end]})"
    branch = _branch(file, found)
    inside = branch if branch is not None else found.assign
    if any(not file.tree.contains(inside, n) for n in _named(loop.body, found.name, file)) or "\n" in joined + append:
        return None
    change: Edit | None
    if found.assign.value is concat.node and branch is None:
        known = file.flow(file.scope_of(loop)).at(loop).get(found.name, ())
        if not known or file.contexts.conditional(found.assign, loop) or found.name not in known[0].name:
            return None
        start, after = f"{parts} = [{found.name}]", f"{found.name} = {joined}"
        change = fixes.replace_node(file, found.assign, append)
    else:
        start, after = f"{parts} = []", f"if {parts}:\n    {found.name} = {joined}"
        change = _first_as_it_is(file, concat, found, branch, file.text(other), append)
    if change is None or fixes.statement_lines(file, loop) is None:
        return None
    return Fix.unsafe(
        "collect a list and join it once",
        fixes.insert_before(file, loop, start),
        change,
        fixes.insert_after(file, loop, after),
    )


def _is_plain(loop: Loop) -> bool:
    """Whether what stands after the loop always runs when it is through."""
    return loop.orelse is None and next(walk(loop.body, cst.Return, cst.Yield, cst.FunctionDef), None) is None


def _branch(file: File, found: Collected) -> cst.If | None:
    """The `if acc is None: acc = x else: acc = concat(...)` whose second branch holds the statement."""
    above = file.tree.ancestors(found.assign)
    otherwise = next((a for a in above if isinstance(a, (cst.Else, cst.For, cst.While))), None)
    branch = file.tree.parent(otherwise) if isinstance(otherwise, cst.Else) else None
    return branch if isinstance(branch, cst.If) else None


def _first_as_it_is(
    file: File, concat: Call, found: Collected, branch: cst.If | None, other: str, append: str
) -> Edit | None:
    """The edit of code that takes the first part as it is, where nothing was collected yet, and does nothing else:
    `x if acc is None else concat([acc, x])`, or an `if` statement."""
    choice, name = found.assign.value, found.name
    if branch is None and isinstance(choice, cst.IfExp):
        test, begins = file.text(choice.test), choice.orelse is concat.node
        first = choice.body if begins else choice.orelse
        same = test == f"{name} is {'None' if begins else 'not None'}" and file.text(first) == other
        chosen = concat.node in (choice.body, choice.orelse)
        return fixes.replace_node(file, found.assign, append) if same and chosen else None
    if branch is None or choice is not concat.node or file.text(branch.test) != f"{name} is None":
        return None
    blocks = (branch.body, branch.orelse.body if isinstance(branch.orelse, cst.Else) else None)
    lines = [b.body[0] for b in blocks if isinstance(b, cst.IndentedBlock) and len(b.body) == 1]
    one = lines[0].body[0] if len(lines) == 2 and isinstance(lines[0], cst.SimpleStatementLine) else None
    same = isinstance(one, cst.Assign) and dotted(one.targets[0].target) == name and file.text(one.value) == other
    span = file.span(branch)
    return Edit(span.start, span.end, append) if same and "#" not in file.source.text[span.start : span.end] else None
