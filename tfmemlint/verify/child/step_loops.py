"""Puts hooks into the loops and functions of a program, so that it says where its steps begin; loaded by
`training_step.py`.

The text on disk stays as it is, so that AutoGraph and tracebacks see the user's own lines.
"""

from __future__ import annotations

import ast
from typing import Any

CALLS = ("fit", "fit_generator", "train_on_batch", "predict", "predict_generator", "predict_on_batch")
"""Methods of models of which each call is about steps, or is one."""

ROUNDS, TURN, CALLED = "tfmemlint_rounds", "tfmemlint_turn", "tfmemlint_called"
"""The hooks: around what a `for` loop goes through, at the beginning of a turn of a `while` loop, and around a
function."""
COUNTERS = ("enumerate", "tqdm", "track")
"""Functions around what a loop goes through that hand on its items."""


class Hooked(ast.NodeTransformer):
    """Puts the hooks in. `kind` says what stands at the line that is asked for: a "loop", a "call" of a model's method,
    a "function" around it, or "" for nothing that could be a step."""

    def __init__(self, tree: ast.AST, line: int) -> None:
        self.kind, self._at = _asked(tree, line)
        self.lines = (0, 0) if self._at is None else _lines(self._at)
        """The first and last line of the call that is asked for."""

    def visit_For(self, node: ast.For) -> Any:
        """Has the hook hand out the items."""
        self.generic_visit(node)
        node.iter = self._handed_out(node.iter, node is self._at, node.lineno)
        return node

    def _handed_out(self, items: Any, asked: bool, line: int) -> Any:
        if isinstance(items, ast.Call) and items.args and _name(items.func) in COUNTERS:
            items.args[0] = self._handed_out(items.args[0], asked, line)
            return items
        return _call(ROUNDS, [items, ast.Constant(asked), ast.Constant(line)], items)

    def visit_While(self, node: ast.While) -> Any:
        """Has each turn begin with the hook."""
        self.generic_visit(node)
        if node is self._at:
            node.body.insert(0, ast.copy_location(ast.Expr(_call(TURN, [], node)), node))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Puts the hook around the function that is asked for, outside of what else decorates it."""
        self.generic_visit(node)
        if node is self._at and self.kind == "function":
            inside = sum(_name(each) in ("staticmethod", "classmethod", "property") for each in node.decorator_list[:1])
            node.decorator_list.insert(inside, ast.copy_location(ast.Name(CALLED, ast.Load()), node))
        return node


def hooked(source: bytes, program: str, line: int) -> tuple[Any, str, tuple[int, int]]:
    """The compiled program with hooks, the kind of what is asked for, and the lines of the call that it is."""
    tree = ast.parse(source, program)
    hooks = Hooked(tree, line)
    changed = ast.fix_missing_locations(hooks.visit(tree))
    return compile(changed, program, "exec", dont_inherit=True), hooks.kind, hooks.lines


def _asked(tree: ast.AST, line: int) -> tuple[str, Any]:
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, (ast.For, ast.While)) and node.lineno == line:
            return "loop", node
    for node in nodes:
        if isinstance(node, ast.Call) and _name(node.func) in CALLS and _lines(node)[0] <= line <= _lines(node)[1]:
            return "call", node
    around = [each for each in nodes if isinstance(each, ast.FunctionDef) and each.lineno <= line <= _lines(each)[1]]
    return ("function", around[-1]) if around else ("", None)


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _lines(node: Any) -> tuple[int, int]:
    return node.lineno, node.end_lineno


def _call(name: str, arguments: list[Any], at: Any) -> Any:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), arguments, []), at)
