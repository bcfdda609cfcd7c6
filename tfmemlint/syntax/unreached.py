"""Code that certainly never runs: what constants switch off, what stands behind a `return` or `sys.exit()`, and methods
that are defined again in their class."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterator, Sequence

import libcst as cst

from tfmemlint.syntax.conditions import Conditions
from tfmemlint.syntax.leaving import LEAVES, ends_program
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.tree import Node


class Unreached:
    """The code of one file that never runs, as disjoint nodes in source order."""

    def __init__(self, program: Program) -> None:
        self._tree = program.tree
        self._program = program
        self.nodes: list[Node] = []
        # The second time, an assignment in code that never runs no longer counts for the conditions.
        for _ in range(2):
            self._conditions = Conditions(program, self.holds)
            self.nodes = self._outermost(self._find())
            if not self.nodes:
                break
        del self._conditions  # they refer back, and nobody asks them any more

    def holds(self, node: Node) -> bool:
        """Whether a node never runs."""
        return self._tree.holding(self.nodes, node) is not None

    def _outermost(self, found: Iterator[Node]) -> list[Node]:
        kept: list[Node] = []
        for node in sorted(found, key=self._tree.order):
            if not kept or not self._tree.contains(kept[-1], node):
                kept.append(node)
        return kept

    def _find(self) -> Iterator[Node]:
        for branch in self._tree.of(cst.If, cst.IfExp, cst.While):
            yield from self._switched_off(branch)
        for block in self._tree.of(cst.Module, cst.IndentedBlock):
            leaves = next((index for index, each in enumerate(block.body) if self._leaves(each)), len(block.body))
            yield from block.body[leaves + 1 :]
            if isinstance(self._tree.parent(block), cst.ClassDef):
                yield from self._replaced(block.body)

    def _switched_off(self, branch: cst.If | cst.IfExp | cst.While) -> Iterator[Node]:
        truth = self._conditions.truth(branch.test)
        if truth is False:
            yield branch.body
        elif truth is True and branch.orelse is not None and not isinstance(branch, cst.While):
            yield branch.orelse

    # -- what ends a block -------------------------------------------------------------------------------------------

    def _leaves(self, statement: Node) -> bool:
        """Whether nothing behind the statement in its block runs."""
        if isinstance(statement, cst.SimpleStatementLine):
            return any(map(self._small_leaves, statement.body))
        branch: Node | None = statement
        while isinstance(branch, cst.If):
            truth = self._conditions.truth(branch.test)
            if truth is not False and not self._suite_leaves(branch.body):
                return False
            if truth is True:
                return True
            branch = branch.orelse
        return isinstance(branch, cst.Else) and self._suite_leaves(branch.body)

    def _suite_leaves(self, suite: cst.BaseSuite) -> bool:
        if isinstance(suite, cst.SimpleStatementSuite):
            return any(map(self._small_leaves, suite.body))
        return any(self._leaves(statement) for statement in suite.body)

    def _small_leaves(self, small: cst.BaseSmallStatement) -> bool:
        return isinstance(small, LEAVES) or _fails(small) or ends_program(self._program, small)

    # -- methods that are defined again ------------------------------------------------------------------------------

    def _replaced(self, statements: Sequence[Node]) -> Iterator[Node]:
        """The methods of a class that a later one of the same name replaces before the class body reads the name; what
        a decorator does with its function is not known."""
        defined: dict[str, list[cst.FunctionDef]] = {}
        for statement in statements:
            if isinstance(statement, cst.FunctionDef):
                defined.setdefault(statement.name.value, []).append(statement)
        for name, methods in defined.items():
            for first, second in itertools.pairwise(methods):
                if not first.decorators and not second.decorators and not self._read(name, first, second):
                    yield first.body

    def _read(self, name: str, first: cst.FunctionDef, second: cst.FunctionDef) -> bool:
        reads = self._program.loads(name)
        behind = bisect.bisect_right(reads, self._tree.last(first), key=self._tree.order)
        return behind < len(reads) and self._tree.order(reads[behind]) < self._tree.order(second)


def _fails(statement: Node) -> bool:
    return (
        isinstance(statement, cst.Assert) and isinstance(statement.test, cst.Name) and statement.test.value == "False"
    )
