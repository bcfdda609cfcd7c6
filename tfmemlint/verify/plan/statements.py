"""What one statement does, as far as slicing asks."""

from __future__ import annotations

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import Definition, ScopeNode
from tfmemlint.syntax.tree import Node

SETS = ("set_", "enable_", "disable_", "run_functions_")
LEARNS = "fit_transform"
"""A method by which an object learns from data, and gives what that comes to."""

CONTAINERS = frozenset(("OrderedDict", "defaultdict", "deque", "dict", "list", "set"))
"""What makes a container."""


def is_setting(file: File, statement: Node) -> bool:
    """Whether a statement sets something for all of TensorFlow or Keras, or for the compiler."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    if isinstance(statement.body[0], cst.ImportFrom):
        module = statement.body[0].module
        return isinstance(module, cst.Name) and module.value == "__future__"
    if not isinstance(statement.body[0], cst.Expr) or not isinstance(statement.body[0].value, cst.Call):
        return False
    name = file.call(statement.body[0].value).name or ""
    return name.startswith(("tf.", "keras.")) and name.rpartition(".")[2].startswith(SETS)


def defines_flag(file: File, statement: Node) -> bool:
    """Whether a statement defines a flag of the command line, by absl, by TensorFlow 1 or by a function that hands it
    to a parser of its own, `options.add("--size", type=int)`."""
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    if not isinstance(first, cst.Expr) or not isinstance(first.value, cst.Call):
        return False
    name = first.value.args[0].value if first.value.args else None
    if isinstance(name, cst.SimpleString) and name.raw_value.startswith("-"):
        return True
    return ".flags.DEFINE_" in (file.call(first.value).name or "")


def changed_name(statement: cst.SimpleStatementLine) -> cst.Name | None:
    """The name whose object a statement changes, or None."""
    node: Node | None = None
    first = statement.body[0]
    method = _method(first.value) if isinstance(first, (cst.Expr, cst.Assign)) else None
    if method is not None and (isinstance(first, cst.Expr) or method.attr.value == LEARNS):
        node = method
    elif isinstance(first, cst.Assign):
        node = first.targets[0].target
    elif isinstance(first, (cst.AugAssign, cst.AnnAssign)):
        node = first.target
    elif isinstance(first, cst.Del):
        node = first.target
        return node if isinstance(node, cst.Name) else None
    if not isinstance(node, (cst.Attribute, cst.Subscript)):
        return None
    while isinstance(node, (cst.Attribute, cst.Subscript, cst.Call)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node if isinstance(node, cst.Name) else None


def _method(value: Node) -> cst.Attribute | None:
    """The method that an expression calls."""
    called = value.func if isinstance(value, cst.Call) else None
    return called if isinstance(called, cst.Attribute) else None


def is_load(file: File, name: cst.Name) -> bool:
    """Whether a name is read, and is not that of an attribute or of an argument."""
    parent = file.tree.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.value is name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)


def is_empty(file: File, definition: Definition) -> bool:
    """Whether a name is given a list, a dictionary or a set without anything in it, which later statements fill."""
    statement = file.tree.statement(definition.node)
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    made = first.value if isinstance(first, (cst.Assign, cst.AnnAssign)) else None
    if isinstance(made, cst.Tuple):
        return any(_makes_nothing(each.value) for each in made.elements)
    return _makes_nothing(made)


def _makes_nothing(made: Node | None) -> bool:
    if isinstance(made, (cst.List, cst.Dict)):
        return not made.elements
    if not isinstance(made, cst.Call) or not isinstance(made.func, (cst.Name, cst.Attribute)):
        return False
    word = made.func.value if isinstance(made.func, cst.Name) else made.func.attr.value
    return word in CONTAINERS and (word == "defaultdict" or not made.args)


def maker_of_part(file: File, definition: Definition) -> cst.Name | None:
    """The name of the object that something is a part of, so that what changes the part changes the object:
    `group = parser.add_argument_group()`."""
    statement = file.tree.statement(definition.node)
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    made = first.value if isinstance(first, cst.Assign) else None
    if not isinstance(made, cst.Call) or not isinstance(made.func, cst.Attribute):
        return None
    whole = made.func.value
    return whole if isinstance(whole, cst.Name) and made.func.attr.value.startswith("add_") else None


def owner(file: File, node: Node) -> ScopeNode:
    """The outermost function or method around a node, or the module; a class is no more than a namespace here."""
    found: ScopeNode = file.module
    for above in (node, *file.tree.ancestors(node)):
        if isinstance(above, cst.FunctionDef):
            found = above
    return found


def asked_of(file: File, name: cst.Name) -> tuple[str, ...]:
    """The attributes that are asked of a name where it stands: `b` and `c` of `a.b.c`."""
    found: list[str] = []
    node: Node = name
    above = file.tree.parent(name)
    while isinstance(above, cst.Attribute) and above.value is node:
        found.append(above.attr.value)
        node, above = above, file.tree.parent(above)
    return tuple(found)


def flagged_call(finding: Finding, file: File) -> cst.Call | None:
    """The call at which a finding points."""
    around = (file.call(node) for node in file.tree.of(cst.Call) if file.span(node).end >= finding.span.end)
    call = next((call for call in around if file.place(call) == finding.span), None)
    return call.node if call is not None else None


def flagged_loop(finding: Finding, file: File) -> cst.For | None:
    """The loop at whose first word a finding points."""
    return next((loop for loop in file.tree.of(cst.For) if file.place(loop) == finding.span), None)
