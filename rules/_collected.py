"""The repair of results that a loop joins one by one: collect a list and join it once."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Call,
    Edit,
    File,
    Fix,
    Node,
    Safety,
    insert_after,
    insert_before,
    outer_span,
    replace_node,
    statement_lines,
    walk,
)

JOINS = frozenset({"tf.concat", "tf.keras.ops.concatenate", "np.concatenate", "np.vstack", "np.hstack"})


def collect_in_list(concat: Call, assign: cst.Assign, loop: cst.For | cst.While, file: File) -> Fix | None:
    """`acc = concat([acc, x])` in a loop as `parts.append(x)`, with one `concat` after it; None where the loop needs
    more than that."""
    target = assign.targets[0].target
    display = next((a.value for a in concat.node.args if isinstance(a.value, (cst.List, cst.Tuple))), None)
    if concat.name not in JOINS or display is None or len(display.elements) != 2 or len(assign.targets) != 1:
        return None
    first, other = (element.value for element in display.elements)
    choice = assign.value if isinstance(assign.value, cst.IfExp) else None
    if choice is None and assign.value is not concat.node:
        return None
    if file.text(first) != file.text(target) or not _plain(loop, file) or file.contexts.traced(concat.node):
        return None
    name = file.text(target)
    parts = (target.attr.value if isinstance(target, cst.Attribute) else name) + "_parts"
    if file.loads(parts) or not isinstance(target, (cst.Name, cst.Attribute)):
        return None
    at = outer_span(file, other)
    call, shown = outer_span(file, concat.node), outer_span(file, display)
    text = file.source.text
    joined = f"{text[call.start : shown.start]}{parts}{text[shown.end : call.end]}"
    append = f"{parts}.append({text[at.start : at.end]})"
    branch = _first_or_more(assign, file)
    if _read_elsewhere(name, branch or assign, loop, file):
        return None
    change: Edit | None
    if choice is not None:
        if branch is not None or not _first_choice(choice, concat, name, file.text(other), file):
            return None
        start, change = f"{parts} = []", replace_node(file, assign, append)
        after = f"if {parts}:\n    {name} = {joined}"
    elif branch is not None:
        if not _same_first(branch, name, file.text(other), file):
            return None
        start = f"{parts} = []"
        change = _replace_branch(branch, append, file)
        after = f"if {parts}:\n    {name} = {joined}"
    else:
        known = file.flow(file.scope_of(loop)).at(loop).get(name, ())
        if not known or file.contexts.conditional(assign, loop) or name not in known[0].name:
            return None
        start, change, after = f"{parts} = [{name}]", replace_node(file, assign, append), f"{name} = {joined}"
    if change is None or "\n" in joined or "\n" in append or statement_lines(file, loop) is None:
        return None
    edits = (insert_before(file, loop, start), change, insert_after(file, loop, after))
    return Fix("collect a list and join it once", tuple(sorted(edits)), Safety.UNSAFE)


def _read_elsewhere(name: str, inside: Node, loop: cst.For | cst.While, file: File) -> bool:
    """Whether the loop names what is collected anywhere else."""
    named = (n for n in walk(loop.body, cst.Name, cst.Attribute) if file.text(n) == name)
    return any(not file.tree.contains(inside, n) for n in named)


def _plain(loop: cst.For | cst.While, file: File) -> bool:
    """Whether what stands after the loop always runs when it is through."""
    leaves = (cst.Return, cst.Yield, cst.FunctionDef)
    return loop.orelse is None and not any(isinstance(n, leaves) for n in walk(loop.body))


def _first_or_more(assign: cst.Assign, file: File) -> cst.If | None:
    """The `if acc is None: acc = x else: acc = concat(...)` whose second branch holds the statement."""
    otherwise = next((a for a in file.tree.ancestors(assign) if isinstance(a, (cst.Else, cst.For, cst.While))), None)
    branch = file.tree.parent(otherwise) if isinstance(otherwise, cst.Else) else None
    return branch if isinstance(branch, cst.If) else None


def _same_first(branch: cst.If, name: str, other: str, file: File) -> bool:
    """Whether the branch does nothing but take the first part as it is, where nothing was collected yet."""
    blocks = (branch.body, branch.orelse.body if isinstance(branch.orelse, cst.Else) else None)
    lines = [b.body[0] for b in blocks if isinstance(b, cst.IndentedBlock) and len(b.body) == 1]
    if len(lines) != 2 or not isinstance(branch.test, cst.Comparison) or file.text(branch.test) != f"{name} is None":
        return False
    line = lines[0]
    first = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
    return (
        isinstance(first, cst.Assign) and file.text(first.targets[0].target) == name and file.text(first.value) == other
    )


def _first_choice(choice: cst.IfExp, concat: Call, name: str, other: str, file: File) -> bool:
    """Whether `x if acc is None else concat([acc, x])`, or the other way round, takes the first part as it is."""
    test = file.text(choice.test)
    if choice.orelse is concat.node:
        return test == f"{name} is None" and file.text(choice.body) == other
    return choice.body is concat.node and test == f"{name} is not None" and file.text(choice.orelse) == other


def _replace_branch(branch: Node, append: str, file: File) -> Edit | None:
    span = file.span(branch)
    return None if "#" in file.source.text[span.start : span.end] else Edit(span.start, span.end, append)
