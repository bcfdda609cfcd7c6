"""Loops that join the parts of one input, and a list in place of what others join: `acc = concat([acc, part])`."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Edit,
    File,
    Fix,
    Iterator,
    Loop,
    dotted,
    fixes,
    integer,
    limits,
    repetition,
    tracing,
    variables,
    walk,
)

JOINS = frozenset({"tf.concat", "tf.keras.ops.concatenate", "np.concatenate", "np.vstack", "np.hstack"})
DISPLAYS = (cst.List, cst.Tuple)
NAMING = (cst.Index, cst.FormattedStringExpression)


def collect_in_list(file: File, concat: Call, found: repetition.Accumulated, loop: Loop) -> Fix | None:
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
    named = repetition.names_of(file, loop, found.name)
    if any(not file.tree.contains(inside, n) for n in named) or "\n" in joined + append:
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


def _branch(file: File, found: repetition.Accumulated) -> cst.If | None:
    """The `if acc is None: acc = x else: acc = concat(...)` whose second branch holds the statement."""
    above = file.tree.ancestors(found.assign)
    otherwise = next((a for a in above if isinstance(a, (cst.Else, cst.For, cst.While))), None)
    branch = file.tree.parent(otherwise) if isinstance(otherwise, cst.Else) else None
    return branch if isinstance(branch, cst.If) else None


def _first_as_it_is(
    file: File, concat: Call, found: repetition.Accumulated, branch: cst.If | None, other: str, append: str
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


def is_structural(file: File, concat: Call, found: repetition.Accumulated, again: repetition.Repetition) -> bool:
    """Whether a loop joins parts of one input, not steps: what its items name (`x = concat([x, extra[key]], -1)`),
    columns of numbers, or features along another axis than the first, by an attribute or a display."""
    if not again.over_data and _adds_columns(file, concat, found):
        return True
    over = again.each[0].iter if again.each else None
    if over is None or again.over_data or isinstance(again.over, Iterator):
        return False
    written, features = isinstance(over, (cst.Attribute, *DISPLAYS)), integer(concat.given("axis")) not in (0, None)
    keys = all(_only_names(file, part, again.items) for part in found.others)
    keys = keys or (isinstance(again.each[0], cst.For) and _only_names(file, again.each[0].body, again.items))
    return [written, features, keys].count(True) > 1


def _adds_columns(file: File, concat: Call, found: repetition.Accumulated) -> bool:
    """Whether each part is certainly a column, one number for each row that there is: for a class, a head, a position.
    The rows are not collected, and a row is a few numbers."""
    axis, parts = integer(concat.given("axis")), [file.value(part) for part in found.others]
    shapes = [part.shape for part in parts if isinstance(part, Array)]
    if axis not in (1, -1) or len(shapes) < len(parts):
        return False
    return all(shape is not None and len(shape) == 2 and shape[1] == 1 for shape in shapes)


def _only_names(file: File, part: cst.CSTNode, items: set[str]) -> bool:
    """Whether the items of a loop stand in a part of the program only as keys, and in texts."""
    names = [name for name in walk(part, cst.Name) if name.value in items]
    return bool(names) and all(isinstance(file.tree.parent(name), NAMING) for name in names)


def in_steps(file: File, found: repetition.Accumulated, again: repetition.Repetition, loop: Loop) -> bool:
    """Whether rows are collected in steps of which there may be many, or from None on; a network that is built joins
    channels. Not the rows of one batch, the steps of a short count, or what tops up a sample to a length."""
    if isinstance(loop, cst.While):
        return next(repetition.names_of(file, loop.test, found.name), None) is None
    counted = isinstance(again.over, Iterator) and again.over.function == "range"
    many = counted and not again.few(limits.SHORT_RUN) and not repetition.over_rows(file, loop)
    return many or found.starts_as_none(loop)


def comes_from_tensorflow(file: File, found: repetition.Accumulated, again: repetition.Repetition, loop: Loop) -> bool:
    """Whether arrays are made of a pipeline's elements, or of tensors."""
    if again.over_data and any(_of_items(file, part, again.items) for part in found.others):
        return True
    made = (tracing.fetched_in_loop(file, part, loop) or tracing.made_of_tensor(file, part) for part in found.others)
    return any(made)


def _of_items(file: File, part: cst.BaseExpression, items: set[str]) -> bool:
    """Whether a part is written with an item of the loop, or names what a method of an item gives: `rows = x.numpy()`.
    What a name stands for else may be a few numbers that are counted of the item."""
    made = file.written(part)
    owner = made.func.value if isinstance(made, cst.Call) and isinstance(made.func, cst.Attribute) else part
    return any(variables(file, each) & items for each in (part, owner))
