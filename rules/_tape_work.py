"""Which statements of a tape's block the differentiated values depend on, and moving the others below it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tapes import Tape

from tfmemlint.api import (
    Api,
    Array,
    Call,
    Edit,
    File,
    Fix,
    Node,
    Safety,
    called_word,
    indentation,
    statement_lines,
    walk,
)
from tfmemlint.syntax.program import names_in


def needed_statements(tapes: list[Tape], file: File) -> set[int]:
    """The statements of the block (by id) on which what is differentiated depends."""
    names: set[str] = set()
    for gradient in (g for tape in tapes for g in tape.gradients):
        one = file.contexts.comprehension(gradient.node) is None
        places = [
            *(arg.value for arg in gradient.node.args if one),
            *([] if one else [file.tree.statement(gradient.node)]),
            *(c.iter for c in file.contexts.loops(gradient.node) if isinstance(c, cst.For)),
        ]
        names |= {n.value for place in places for n in walk(place) if isinstance(n, cst.Name)}
    names -= {tape.name for tape in tapes}
    _add_assigned(names, tapes[0].block, file)
    writers: dict[str, list[Node]] = {}
    for statement in tapes[0].block.body.body:
        for name in _writes(statement, file):
            writers.setdefault(name, []).append(statement)
    needed: set[int] = set()
    pending = [statement for name in names for statement in writers.get(name, ())]
    while pending:
        writer = pending.pop()
        if id(writer) not in needed:
            needed.add(id(writer))
            pending += [other for name in names_in(writer) for other in writers.get(name, ())]
    return needed


def _add_assigned(names: set[str], block: cst.With, file: File) -> None:
    """Add what assignments outside of the block read to give these names their values, the last of them first."""
    to, order = file.assigned(file.scope_of(block)).to, file.tree.order
    waiting: list[tuple[int, cst.Assign]] = []
    new, limit = list(names), len(file.tree)
    while True:
        for assign in (assign for name in new for assign in to.get(name, ())):
            outside = order(assign) < limit and not file.tree.contains(block, assign)
            if outside and not isinstance(assign.value, cst.Call):
                heapq.heappush(waiting, (-order(assign), assign))
        if not waiting:
            return
        place, assign = heapq.heappop(waiting)
        while waiting and waiting[0][0] == place:
            heapq.heappop(waiting)
        new, limit = [name for name in names_in(assign.value) if name not in names], -place
        names.update(new)


def _writes(statement: Node, file: File) -> set[str]:
    """The names that a statement binds or may change by a method: `losses.append(x)`."""
    found: set[str] = set()
    for node in walk(statement):
        if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.NamedExpr)):
            found |= {n.value for n in walk(node.target) if isinstance(n, cst.Name)}
        elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
            base = node.value.func
            while isinstance(base, (cst.Attribute, cst.Subscript, cst.Call)):
                base = base.func if isinstance(base, cst.Call) else base.value
            if isinstance(base, cst.Name) and not isinstance(file.value(base), Api):
                found.add(base.value)
        elif isinstance(node, cst.AsName):
            found |= {n.value for n in walk(node.name) if isinstance(n, cst.Name)}
    return found


def updates_metric(call: Call) -> bool:
    ends = (".update_state", ".__call__")
    return bool(call.names) and all(n.startswith("tf.keras.metrics.") and n.endswith(ends) for n in call.names)


def move_below(statement: Node, update: Call, tape: Tape, file: File) -> Fix | None:
    body: list[Node] = list(tape.block.body.body)
    later = body[body.index(statement) + 1 :]
    receiver = update.receiver_node if update.method == "update_state" else update.node.func
    metric = file.text(receiver) if receiver is not None else ""
    read = {n.value for n in walk(statement) if isinstance(n, cst.Name)}
    for other in later:
        written = {
            t.target.value
            for n in walk(other, cst.Assign)
            for t in n.targets
            if isinstance(t.target, cst.Name)
        }
        if metric in file.text(other) or written & read:
            return None
    inner, outer = indentation(file, statement), indentation(file, tape.block)
    tail = _trailing(body, file)
    place = body.index(statement)
    moved = [statement, *tail] if statement not in tail else tail[tail.index(statement) :]
    lines = [statement_lines(file, s) for s in moved]
    if len(moved) == len(body) or not inner.startswith(outer):
        return None
    dedented = []
    for span in lines[0 if statement in tail else 1 :]:
        if span is None or not file.source.text.startswith(inner, span.start):
            return None
        dedented.append(Edit(span.start, span.start + len(inner), outer))
    first = lines[0]
    if first is None or "\n" in file.source.text[first.start : first.end].rstrip("\n"):
        return None
    if place + len(moved) < len(body) or statement not in tail:
        text = outer + file.source.text[first.start + len(inner) : first.end].rstrip("\n")
        at = file.source.line_span(file.span(body[len(body) - len(tail) - 1]).end).end
        dedented += [Edit(first.start, first.end, ""), Edit(at, at, "\n" + text)]
    return Fix("move it below the block", tuple(sorted(dedented, key=lambda e: e.start)), Safety.SAFE)


def _trailing(body: list[Node], file: File) -> list[Node]:
    """The metric updates of one line each with which the block ends."""
    found: list[Node] = []
    for statement in reversed(body):
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        value = small.value if isinstance(small, cst.Expr) else None
        if (
            not isinstance(value, cst.Call)
            or not updates_metric(file.call(value))
            or "\n" in file.text(statement).strip()
        ):
            break
        found.insert(0, statement)
    return found


def nested_lines(statement: Node) -> Iterator[cst.SimpleStatementLine]:
    """The lines in the loops, conditions and contexts of a block."""
    if isinstance(statement, cst.With):
        calls = [item.item for item in statement.items if isinstance(item.item, cst.Call)]
        if any(called_word(call) == "stop_recording" for call in calls):
            return
    if isinstance(statement, (cst.For, cst.If, cst.Else, cst.With)):
        for inner in statement.body.body:
            if isinstance(inner, cst.SimpleStatementLine):
                yield inner
            yield from nested_lines(inner)
    if isinstance(statement, cst.If) and statement.orelse is not None:
        yield from nested_lines(statement.orelse)


SHOWS = ("builtins.print", "tf.print", "tf.summary.", "logging.", "absl.logging.")


def shown(line: cst.SimpleStatementLine, needed: set[int], block: cst.With, file: File) -> Call | None:
    """The call of a line that only shows or logs something which the block computes for that from tensors."""
    small = line.body[0]
    if len(line.body) != 1 or not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return None
    call = file.call(small.value)
    if not (call.name or "").startswith(SHOWS):
        return None
    made = [value for arg in call.node.args for value in _made_for_it(arg, needed, block, file)]
    ops = [n for value in made for n in walk(value, cst.Call) if _op(n, file)]
    inner = [value for op in ops for arg in op.args for value in _made_for_it(arg, needed, block, file)]
    kept = [n for value in inner for n in walk(value, cst.BinaryOperation, cst.Call)]
    return call if any(isinstance(n, cst.BinaryOperation) or _op(n, file) for n in kept) else None


def _made_for_it(arg: cst.Arg, needed: set[int], block: cst.With, file: File) -> Iterator[Node]:
    """What an argument stands for, where the block computes it and no gradient needs it."""
    value = file.written(arg.value)
    if file.tree.contains(block, value) and not any(id(above) in needed for above in file.tree.ancestors(value)):
        yield value


def _op(node: cst.Call, file: File) -> bool:
    value = file.value(node)
    return isinstance(value, Array) and value.library == "tf" and (file.call(node).name or "").startswith("tf.")
