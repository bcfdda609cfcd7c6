"""Statements that leave their block for certain: `return`, `break`, `raise`, and calls that end the program."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from tfmemlint.syntax.program import Program
from tfmemlint.syntax.scopes import Binds, dotted
from tfmemlint.syntax.tree import Node, walk

LEAVES = (cst.Return, cst.Raise, cst.Break, cst.Continue)

EXITS = frozenset({"sys.exit", "os._exit", "exit", "quit"})
"""Functions that end the program."""

_WORDS = frozenset(name.rpartition(".")[2] for name in EXITS)


def ends_program(program: Program, statement: Node) -> bool:
    """Whether a statement of a function or a loop ends the program, by a name that nothing but an import binds. What
    stands in neither may be cells of a notebook, of which the next are run all the same."""
    if not isinstance(statement, cst.Expr) or not isinstance(statement.value, cst.Call):
        return False
    path = dotted(statement.value.func)
    if path is None or path.rpartition(".")[2] not in _WORDS:
        return False
    scope = program.scope_of(statement)
    if not isinstance(scope, cst.FunctionDef) and not _in_loop(program, statement):
        return False
    first, dot, rest = path.partition(".")
    around = (scope, *program.scopes_around(scope))
    bound = [d for each in around for d in program.flow(each).bindings.get(first, ())]
    if not bound:
        return path in EXITS
    return all(d.binds is Binds.IMPORT and f"{d.api}{dot}{rest}" in EXITS for d in bound)


def left_at_once(program: Program, loop: cst.For | cst.While) -> tuple[Node, ...]:
    """The statements of which one certainly leaves a loop in its first round: it looks at the first item, waits for
    nothing, ends the program, or tries again only after an error. Empty where the loop may go on."""
    if found := _leaving(program, loop.body.body):
        return found
    last = loop.body.body[-1] if loop.body.body else None
    if not isinstance(last, cst.Try):
        return ()
    goes_on = sum(1 for _ in walk(loop.body, cst.Continue))
    after_errors = sum(1 for each in last.handlers for _ in walk(each, cst.Continue))
    return _leaving(program, (last.orelse or last).body.body) if goes_on == after_errors else ()


def _leaving(program: Program, statements: Sequence[Node]) -> tuple[Node, ...]:
    """The statements by which one of a block leaves the loop around it: itself, or one in each branch of an `if`. Empty
    where none does so for certain, or where something before it may go on with the next round."""
    for index, statement in enumerate(statements):
        found: tuple[Node, ...] = ()
        if isinstance(statement, (cst.SimpleStatementLine, cst.If)):
            found = _leaves_by(program, statement)
        elif isinstance(statement, (cst.Break, cst.Return, cst.Raise)) or ends_program(program, statement):
            found = (statement,)
        if found:
            goes_on = any(next(walk(before, cst.Continue), None) is not None for before in statements[:index])
            return () if goes_on else found
    return ()


def _leaves_by(program: Program, statement: cst.SimpleStatementLine | cst.If) -> tuple[Node, ...]:
    if isinstance(statement, cst.SimpleStatementLine):
        return _leaving(program, statement.body)
    branches: list[tuple[Node, ...]] = []
    branch: cst.If | cst.Else | None = statement
    while branch is not None:
        branches.append(_leaving(program, branch.body.body))
        if isinstance(branch, cst.Else):
            return tuple(each for found in branches for each in found) if all(branches) else ()
        branch = branch.orelse
    return ()


def _in_loop(program: Program, statement: Node) -> bool:
    return any(isinstance(above, (cst.For, cst.While)) for above in program.tree.ancestors(statement))
