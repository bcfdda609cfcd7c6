"""Which Python values change from one iteration of a loop to the next."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Api,
    Binds,
    Const,
    Definition,
    Edit,
    File,
    Fix,
    Length,
    Node,
    Safety,
    Sequence,
    Value,
    dotted,
    walk,
)
from tfmemlint.api import Iterator as Items
from tfmemlint.fix.edits import indentation, statement_lines

CONVERTS = frozenset({"builtins.float", "builtins.int", "builtins.str", "builtins.len", "builtins.round"})
COMBINES = frozenset({"builtins.min", "builtins.max", "builtins.abs", "builtins.pow", "builtins.sum"})
DRAWS = frozenset({
    "random.random", "random.randint", "random.uniform", "random.gauss", "random.randrange", "random.normalvariate",
    "time.time", "time.perf_counter",
})  # fmt: skip
"""Functions whose result is another Python number each time."""


def changing_python_value(expression: cst.BaseExpression, file: File) -> bool:
    """Whether an expression is certainly a Python number, string or list that differs between the iterations of a
    loop around it."""
    loops = list(file.contexts.loops(expression))
    return bool(loops) and _changes(expression, loops, file)


def _changes(node: cst.BaseExpression, loops: list[cst.For | cst.While], file: File) -> bool:
    if isinstance(node, (cst.Name, cst.Attribute)):
        definitions = file.flow(file.scope_of(node)).uses.get(id(node), ())
        return bool(definitions) and any(_changing_definition(d, loops, file) for d in definitions)
    if isinstance(node, cst.BinaryOperation):
        parts = (node.left, node.right)
        return any(_changes(p, loops, file) for p in parts) and all(
            _changes(p, loops, file) or _is_python(p, file) for p in parts
        )
    if isinstance(node, cst.Call):
        call = file.call(node)
        if call.name in DRAWS:
            return True
        if call.name in COMBINES:
            given = [arg.value for arg in node.args]
            return any(_changes(p, loops, file) for p in given) and all(
                _changes(p, loops, file) or _is_python(p, file) for p in given
            )
        if call.name not in CONVERTS or not node.args:
            return False
        return any(isinstance(n, cst.Name) and _bound_in(n, loops, file) for n in walk(node.args[0].value))
    if isinstance(node, cst.FormattedString):
        return any(isinstance(n, cst.Name) and _changes(n, loops, file) for n in walk(node))
    if isinstance(node, (cst.List, cst.Tuple)):
        return any(_changes(e.value, loops, file) for e in node.elements)
    if isinstance(node, cst.Dict):
        return any(isinstance(e, cst.DictElement) and _changes(e.value, loops, file) for e in node.elements)
    return False


def _changing_definition(d: Definition, loops: list[cst.For | cst.While], file: File) -> bool:
    loop = next((loop for loop in loops if file.tree.contains(loop, d.node)), None)
    if loop is None:
        return False
    if d.binds is Binds.ITEM and isinstance(loop, cst.For) and file.tree.contains(loop.target, d.node):
        return _item_changes(file.value(loop.iter), d.path)
    if d.binds is Binds.AUGMENTED and isinstance(d.value, cst.AugAssign):
        return _is_python(d.value.value, file) and _starts_python(d, file)
    if d.binds is Binds.VALUE and not d.path and isinstance(d.value, cst.BaseExpression):
        return _changes(d.value, loops, file) if not _reads(d.value, d.name) else _is_counter(d.value, d.name, file)
    return False


def _item_changes(iterated: Value, path: tuple[int, ...]) -> bool:
    if isinstance(iterated, Items):
        if iterated.function in ("range", "trange"):
            return not path
        if iterated.function == "enumerate":
            return path == (0,) or (len(path) > 1 and path[0] == 1 and _item_changes(iterated.of, path[1:]))
        if iterated.function in ("tqdm", "reversed", "sorted", "list"):
            return _item_changes(iterated.of, path)
    if isinstance(iterated, Sequence) and not path:
        items = set(iterated.items)
        return len(items) > 3 and all(isinstance(i, Const) and isinstance(i.value, (int, float, str)) for i in items)
    return isinstance(iterated, Api) and iterated.name == "builtins.range"


def _starts_python(d: Definition, file: File) -> bool:
    """Whether another definition of the name is a Python number."""
    others = [o for o in file.flow(d.scope).bindings.get(d.name, ()) if o is not d]
    if "." in d.name:
        for assign in file.tree.of(cst.Assign):
            if any(dotted(t.target) == d.name for t in assign.targets) and isinstance(file.value(assign.value), Const):
                return True
    return any(
        isinstance(o.value, cst.BaseExpression) and isinstance(file.value(o.value), Const)
        for o in others
        if o.binds is Binds.VALUE
    )


def _is_counter(value: Node, name: str, file: File) -> bool:
    if isinstance(value, cst.Call) and file.call(value).name in COMBINES:
        reads = [arg.value for arg in value.args if _reads(arg.value, name)]
        rest = [arg.value for arg in value.args if not _reads(arg.value, name)]
        return all(_is_counter(r, name, file) for r in reads) and all(_is_python(r, file) for r in rest)
    if not isinstance(value, cst.BinaryOperation):
        return False
    other = value.right if isinstance(value.left, cst.Name) and value.left.value == name else value.left
    return _is_python(other, file)


def _is_python(node: cst.BaseExpression, file: File) -> bool:
    value = file.value(node)
    return isinstance(value, (Const, Length)) and not isinstance(getattr(value, "value", 0), bool)


def _reads(node: Node, name: str) -> bool:
    return any(isinstance(n, cst.Name) and n.value == name for n in walk(node))


def _bound_in(name: cst.Name, loops: list[cst.For | cst.While], file: File) -> bool:
    definitions = file.flow(file.scope_of(name)).uses.get(id(name), ())
    return any(file.tree.contains(loop, d.node) for d in definitions for loop in loops)


def assigned_names(loop: cst.For | cst.While, file: File) -> Iterator[str]:
    """Names that a loop binds: its target and what its body assigns."""
    for scope_definitions in file.flow(file.scope_of(loop)).bindings.values():
        for d in scope_definitions:
            if file.tree.contains(loop, d.node):
                yield d.name


def hoist(file: File, made: Node, message: str) -> Fix | None:
    """Move the statement that holds `made` before the outermost loop on which it does not depend; unsafe.

    None where it stands in the loop's body with a condition, reads what the loop binds, or holds a string of several
    lines.
    """
    statement = made if isinstance(made, cst.FunctionDef) else file.tree.statement(made)
    lines = statement_lines(file, statement)
    block = file.tree.parent(statement)
    if lines is None or not isinstance(block, cst.IndentedBlock) or len(block.body) < 2:
        return None
    own = _bound_names(statement)
    reads = free_names(statement, file) - own
    target = None
    for loop in file.contexts.loops(statement):
        free = loop.body is block or (target is not None and file.tree.parent(target) is loop.body)
        if not free or reads & set(assigned_names(loop, file)) or _rebound(own, statement, loop, file):
            break
        target = loop
    if target is None:
        return None
    for node in walk(statement):
        if isinstance(node, (cst.SimpleString, cst.FormattedString)) and "\n" in file.text(node):
            return None
    text, inner, outer = (
        file.source.text[lines.start : lines.end],
        indentation(file, statement),
        indentation(file, target),
    )
    moved = "".join(
        outer + line.removeprefix(inner) if line.strip() else line for line in text.splitlines(keepends=True)
    )
    place = file.source.line_span(file.span(target).start).start
    end = lines.end
    if statement is block.body[0]:  # the blank lines below it would open the block
        end = lines.end + _blank(file.source.text[lines.end :])
    return Fix(message, (Edit(place, place, moved), Edit(lines.start, end, "")), Safety.UNSAFE)


def _blank(text: str) -> int:
    """The length of the blank lines at the start of a text."""
    rest = text.lstrip()
    return text.rfind("\n", 0, len(text) - len(rest)) + 1


def free_names(node: Node, file: File) -> set[str]:
    """The names that code reads from the scopes around it: what functions inside it bind is left out."""
    found = set()
    for name in (n for n in walk(node) if isinstance(n, cst.Name)):
        above = file.tree.parent(name)
        if isinstance(above, (cst.Param, cst.FunctionDef)) and above.name is name:
            continue
        scope = file.scope_of(name)
        while file.tree.contains(node, scope) and name.value not in file.flow(scope).bindings:
            scope = file.scope_of(scope)
        if not file.tree.contains(node, scope):
            found.add(name.value)
    return found


def _bound_names(statement: Node) -> set[str]:
    """The names that a `def` or an assignment statement binds."""
    if isinstance(statement, cst.FunctionDef):
        return {statement.name.value}
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    targets = small.targets if isinstance(small, cst.Assign) else ()
    return {t.target.value for t in targets if isinstance(t.target, cst.Name)}


def _rebound(names: set[str], statement: Node, loop: cst.For | cst.While, file: File) -> bool:
    """Whether the loop also binds one of the names elsewhere, or the statement binds none."""
    others = [d for name in names for d in file.flow(file.scope_of(loop)).bindings.get(name, ())]
    return not names or any(
        file.tree.contains(loop, d.node) and not file.tree.contains(statement, d.node) for d in others
    )
