"""Distribution strategies: where they are made, used and entered."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import (
    Call,
    Definition,
    Edit,
    File,
    Fix,
    Instance,
    Node,
    Safety,
    dotted,
    indentation,
    statement_lines,
)

MAKES = (
    "tf.distribute.MirroredStrategy", "tf.distribute.MultiWorkerMirroredStrategy", "tf.distribute.TPUStrategy",
    "tf.distribute.experimental.MultiWorkerMirroredStrategy", "tf.distribute.experimental.CentralStorageStrategy",
    "tf.distribute.experimental.TPUStrategy", "tf.distribute.experimental.ParameterServerStrategy",
    "tf.distribute.ParameterServerStrategy",
)  # fmt: skip
ENTERS = frozenset({"scope", "run", "experimental_run_v2", "__enter__"})


def uses_of_strategy(name: str, made: Call, file: File) -> list[Node] | None:
    """All reads of the name that a strategy is kept in, from functions too; None where it may be another one."""
    if "." in name:
        if not name.startswith("self.") or name.count(".") > 1:
            return None
        last = name.partition(".")[2]
        found = [n for n in file.tree.of(cst.Attribute) if n.attr.value == last]
        if any(dotted(n) != name for n in found):
            return None
        return [n for n in found if not isinstance(file.tree.parent(n), cst.AssignTarget)]
    scope = file.scope_of(made.node)
    bindings = file.flow(scope).bindings.get(name, ())
    if not all(_is_strategy(d, file) for d in bindings):
        return None
    targets = {id(d.node) for d in bindings}
    uses = file.places(name).bound_in(scope)
    reads = (use for use in uses if not isinstance(file.tree.parent(use), (cst.AssignTarget, cst.NameItem)))
    return [use for use in reads if id(use) not in targets]


def _is_strategy(d: Definition, file: File) -> bool:
    if d.path or not isinstance(d.value, cst.Call):
        return False
    name, value = file.call(d.value).name or "", file.value(d.value)
    if isinstance(value, Instance) and (value.type_name or "") in MAKES:
        return True
    return name.startswith("tf.distribute.") and (name.endswith(("Strategy", "get_strategy")))


def handed_over(use: Node, file: File) -> bool:
    """Whether the strategy goes where it may be entered unseen."""
    parent = file.tree.parent(use)
    return not (isinstance(parent, cst.Attribute) and (parent.value is use or parent.attr is use))


def given_by(made: Call, file: File) -> Call:
    """Where the strategy comes from: its constructor, or the only call of the function that just gives it."""
    function = file.contexts.function(made.node)
    if not isinstance(function, cst.FunctionDef) or not isinstance(file.tree.parent(made.node), cst.Return):
        return made
    callers = file.values.functions.callers(function) or ()
    return callers[0] if len(callers) == 1 and len(list(file.returns(function))) == 1 else made


def enters(use: Node, file: File) -> bool:
    parent = file.tree.parent(use)
    return isinstance(parent, cst.Attribute) and parent.value is use and parent.attr.value in ENTERS


def entered_by_hand(use: Node, file: File) -> bool:
    """Whether the scope is kept and entered later, not by `with`."""
    call = file.tree.parent(file.tree.parent(use) or use)
    if not isinstance(call, cst.Call) or not enters(use, file) or file.call(call).method != "scope":
        return False
    above = file.tree.parent(call)
    while isinstance(above, (cst.IfExp, cst.Arg, cst.Call)):
        above = file.tree.parent(above)
    return not isinstance(above, cst.WithItem)


def wrap_in_scope(built: Call, name: str, made: Call, file: File) -> Fix | None:
    """Put the statements from the model's own to the one that compiles it into `with strategy.scope():`."""
    first, start = file.tree.statement(built.node), file.tree.statement(made.node)
    block = file.tree.parent(first)
    body = list(getattr(block, "body", ()))
    assign = file.tree.parent(built.node)
    model = dotted(assign.targets[0].target) if isinstance(assign, cst.Assign) else None
    behind = file.tree.parent(start) is block and file.tree.order(start) < file.tree.order(first)
    if model is None or not behind or first not in body:
        return None
    at = body.index(first)
    compiles = [i for i, s in enumerate(body) if i > at and _compiles(s, model)]
    inner = body[at : (compiles[0] if compiles else at) + 1]
    spans = [statement_lines(file, statement) for statement in inner]
    text = file.source.text
    if any(not isinstance(s, cst.SimpleStatementLine) for s in inner) or any(span is None for span in spans):
        return None
    known = [span for span in spans if span is not None]
    shown = text[known[0].start : known[-1].end]
    if '"""' in shown or "'''" in shown:
        return None
    indent, unit = indentation(file, first), file.module.default_indent
    # One level deeper means behind what is there: tabs before spaces would be another level than the `with` line's.
    moved = "".join(
        f"{indent}{unit}{line.removeprefix(indent)}" if line.strip() and line.startswith(indent) else line
        for line in shown.splitlines(keepends=True)
    )
    edit = Edit(known[0].start, known[-1].end, f"{indent}with {name}.scope():\n{moved}")
    return Fix("build it in the scope", (edit,), Safety.UNSAFE)


def _compiles(statement: Node, model: str) -> bool:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    call = small.value if isinstance(small, cst.Expr) else None
    return isinstance(call, cst.Call) and dotted(call.func) == f"{model}.compile"
