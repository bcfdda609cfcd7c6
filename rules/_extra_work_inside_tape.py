"""Updates of metrics in the block of a tape: which there are, whether the loss needs them, moving them below it."""

from __future__ import annotations

from itertools import takewhile

import libcst as cst

from tfmemlint.api import Array, Binds, Call, File, Fix, Instance, Node, fixes, gradients, variables, walk

SUMS = ("tf.keras.metrics.Mean", "tf.keras.metrics.Sum")


def metric_update(file: File, line: Node, tape: gradients.Tape) -> Call | None:
    """The update of a metric that has a line to itself; one whose result is kept counts where no gradient needs it."""
    small = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    kept = isinstance(small, cst.Assign) and _statement(file, small, tape) not in tape.needed
    value = small.value if isinstance(small, cst.Expr) or (isinstance(small, cst.Assign) and kept) else None
    call = file.call(value) if isinstance(value, cst.Call) else None
    return call if call is not None and _updates_metric(call) else None


def of_numbers(file: File, update: Call, tape: gradients.Tape) -> bool:
    """Whether an update sums up what is there without it, as `Mean` of a loss does, not known to be more than one
    number."""
    metric = update.receiver if update.method == "update_state" else file.value(update.node.func)
    if not all(isinstance(each, Instance) and each.type_name in SUMS for each in metric.options):
        return False
    given = update.node.args[0].value if update.node.args else None
    value = file.value(given) if given is not None else None
    many = isinstance(value, Array) and value.shape is not None and value.shape != ()
    return given is not None and _is_there(file, given, tape) and not many


def _is_there(file: File, given: cst.BaseExpression, tape: gradients.Tape) -> bool:
    """Whether the program has a value without what is given it: an attribute, or a name, unless the block is seen to
    compute its value for this alone."""
    made = file.only_definition(given) if isinstance(given, cst.Name) else None
    if made is None or made.binds is not Binds.VALUE or made.path:
        return isinstance(given, (cst.Name, cst.Attribute))
    if len(file.readers(made)) > 1 or not file.tree.contains(tape.block, made.node):
        return True
    return isinstance(made.value, (cst.Name, cst.Attribute))


def _statement(file: File, node: Node, tape: gradients.Tape) -> Node | None:
    """The statement of the block that holds a node."""
    place = file.tree.holding(tape.body, node)
    return tape.body[place] if place is not None else None


def _updates_metric(call: Call) -> bool:
    ends = (".update_state", ".__call__")
    return bool(call.names) and all(n.startswith("tf.keras.metrics.") and n.endswith(ends) for n in call.names)


def _metric(file: File, update: Call) -> str:
    """The metric that is updated, as it is written."""
    receiver = update.receiver_node if update.method == "update_state" else update.node.func
    return file.text(receiver) if receiver is not None else ""


def result_needed(file: File, update: Call, tape: gradients.Tape) -> bool:
    """Whether what a gradient needs reads the metric's result after the update."""
    statement, metric = _statement(file, update.node, tape), _metric(file, update)
    end = file.tree.last(statement) if statement is not None else 0
    results = (node for each in tape.needed for node in walk(each, cst.Attribute) if node.attr.value == "result")
    return any(file.tree.order(node) > end and file.text(node.value) == metric for node in results)


def moved_below(file: File, update: Call, tape: gradients.Tape) -> Fix | None:
    """Move an update below the block, with those that end it, where no later statement has to do with it."""
    statement = file.tree.statement(update.node)
    if statement not in tape.body or _keeps_result(file, update):
        return None
    later = tape.body[tape.body.index(statement) + 1 :]
    read, metric = variables(file, statement), _metric(file, update)
    for other in later:
        if metric in file.text(other) or any(definition.name in read for definition in file.bound_within(other)):
            return None
    last = [metric_update(file, other, tape) for other in reversed(later)]
    ending = list(takewhile(lambda each: each is not None and not _keeps_result(file, each), last))
    moved = [statement, *later[len(later) - len(ending) :]]
    return Fix.safe("move it below the block", fixes.move_below(file, tape.block, moved))


def _keeps_result(file: File, update: Call) -> bool:
    return not isinstance(file.tree.parent(update.node), cst.Expr)
