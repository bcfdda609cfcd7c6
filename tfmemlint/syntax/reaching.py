"""Reaching definitions: for each use of a name, the definitions that can be its value there.

One forward pass over the statements of one scope. Environments never change, so a reference to one is a snapshot. A
loop's body is passed twice: once without recording, to learn what its end brings back to its top, and once for good.
`self.x`, `data.train` and `d["key"]` are followed like names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import libcst as cst

from tfmemlint.syntax.environments import Env, join
from tfmemlint.syntax.reader import Reader
from tfmemlint.syntax.scopes import Binds, ScopeNode, parameters
from tfmemlint.syntax.tree import Node, Tree, children


class Flow(Reader):
    """The reaching definitions of one scope.

    `uses` maps the id of a Name, Attribute or Subscript in load position to its definitions (absent: bound outside
    the scope), `before` the id of a statement to the environment before it, `end` is the environment at the scope's
    end, returns included.
    """

    def __init__(self, scope: ScopeNode) -> None:
        super().__init__(scope)
        self.before: dict[int, Env] = {}
        self._breaks: list[list[Env | None]] = []
        self._continues: list[list[Env | None]] = []
        self._returns: list[Env | None] = []
        self._endless: list[Env | None] = []
        self._run()
        self.end: Env = join(self._env, *self._returns) or join(*self._endless) or self._nothing

    def at(self, statement: Node) -> Env:
        """The environment before a statement; nothing is bound in one that was not reached."""
        return self.before.get(id(statement), self._nothing)

    def _run(self) -> None:
        scope = self.scope
        if isinstance(scope, (cst.FunctionDef, cst.Lambda)):
            for param in parameters(scope):
                self._bind(param.name.value, Binds.PARAMETER, param, param, annotation=param.annotation)
        if isinstance(scope, cst.Lambda):
            self._visit(scope.body)
        elif isinstance(scope, cst.Module):
            self._block(scope.body)
        else:
            self._suite(scope.body)

    # -- statements --------------------------------------------------------------------------------------------------

    def _suite(self, suite: cst.BaseSuite) -> None:
        if isinstance(suite, cst.SimpleStatementSuite):
            self._small(suite, suite.body)
        else:
            self._block(suite.body)

    def _block(self, statements: Sequence[Node]) -> None:
        dead = False
        for statement in statements:
            dead = dead or self._env is None
            if dead:
                self._env = self._nothing  # unreachable code is still read, with nothing known
            if isinstance(statement, cst.SimpleStatementLine):
                self._small(statement, statement.body)
            else:
                self._compound(statement)
        if dead:
            self._env = None

    def _compound(self, statement: Node) -> None:
        if self._recording and self._env is not None:
            self.before[id(statement)] = self._env
        handler = _COMPOUND.get(statement.__class__)
        if handler is not None:
            handler(self, statement)

    def _small(self, line: Node, statements: Iterable[Node]) -> None:
        if self._recording and self._env is not None:
            self.before[id(line)] = self._env
        for statement in statements:
            handler = _SMALL.get(statement.__class__)
            if handler is not None:
                handler(self, statement)
            else:
                self._visit_below(statement)

    def _return(self, node: cst.Return) -> None:
        self._visit(node.value)
        self._returns.append(self._env)
        self._env = None

    def _raise(self, node: cst.Raise) -> None:
        self._visit(node.exc)
        self._env = None

    def _assert(self, node: cst.Assert) -> None:
        self._visit_below(node)
        if isinstance(node.test, cst.Name) and node.test.value == "False":
            self._env = None

    def _break(self, node: cst.Break) -> None:
        if self._breaks:
            self._breaks[-1].append(self._env)
        self._env = None

    def _continue(self, node: cst.Continue) -> None:
        if self._continues:
            self._continues[-1].append(self._env)
        self._env = None

    def _function(self, node: cst.FunctionDef) -> None:
        for decorator in node.decorators:
            self._visit(decorator.decorator)
        for param in parameters(node):
            self._visit(param.default)
            self._visit(param.annotation)
        self._visit(node.returns)
        self._bind(node.name.value, Binds.FUNCTION, node, node)

    def _class(self, node: cst.ClassDef) -> None:
        for decorator in node.decorators:
            self._visit(decorator.decorator)
        for base in (*node.bases, *node.keywords):
            self._visit(base.value)
        self._bind(node.name.value, Binds.CLASS, node, node)

    def _if(self, node: cst.If) -> None:
        ends: list[Env | None] = []
        branch: cst.If | cst.Else | None = node
        while isinstance(branch, cst.If):  # all branches of a long chain meet at once
            if branch is not node and self._recording and self._env is not None:
                self.before[id(branch)] = self._env
            self._visit(branch.test)
            before = self._env
            self._suite(branch.body)
            if always(branch.test):
                break
            ends.append(self._env)
            self._env, branch = before, branch.orelse
        if isinstance(branch, cst.Else):
            self._suite(branch.body)
        self._env = join(*ends, self._env)

    def _for(self, node: cst.For) -> None:
        self._visit(node.iter)
        self._loop(node, lambda: self._target(node.target, Binds.ITEM, node.iter), endless=False)

    def _while(self, node: cst.While) -> None:
        self._loop(node, lambda: self._visit(node.test), endless=always(node.test))

    def _loop(self, node: cst.For | cst.While, enter: Callable[[], None], endless: bool) -> None:
        entry, recording = self._env, self._recording
        self._recording = False
        breaks, *ends = self._pass(node, enter)
        head = join(entry, *ends)
        if recording:
            self._recording, self._env = True, head
            breaks, *ends = self._pass(node, enter)
            head = join(head, *ends)
        if endless:
            self._endless.append(head)  # what functions that the loop calls see, where the program never gets past it
        self._env = None if endless else head
        if node.orelse is not None and not endless:
            self._suite(node.orelse.body)
        self._env = join(self._env, breaks)

    def _pass(self, node: cst.For | cst.While, enter: Callable[[], None]) -> list[Env | None]:
        """Go through a loop once: what holds after its breaks, at its body's end, and where it continues."""
        self._breaks.append([])
        self._continues.append([])
        enter()
        self._suite(node.body)
        continues = self._continues.pop()
        return [join(*self._breaks.pop()), self._env, *continues]

    def _try(self, node: cst.Try | cst.TryStar) -> None:
        entry = self._env
        self._suite(node.body)
        raised = join(entry, self._env)
        if node.orelse is not None and self._env is not None:
            self._suite(node.orelse.body)
        ends = [self._env]
        for handler in node.handlers:
            self._env = raised
            self._visit(handler.type)
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                self._bind(handler.name.name.value, Binds.UNKNOWN, handler)
            self._suite(handler.body)
            ends.append(self._env)
        self._env = join(*ends)
        if node.finalbody is not None:
            dead = self._env is None
            self._env = self._env if self._env is not None else raised
            self._suite(node.finalbody.body)
            self._env = None if dead else self._env

    def _with(self, node: cst.With) -> None:
        for item in node.items:
            self._visit(item.item)
            if item.asname is not None:
                self._target(item.asname.name, Binds.ENTERED, item.item)
        self._suite(node.body)

    def _match(self, node: cst.Match) -> None:
        self._visit(node.subject)
        before, ends = self._env, []
        for case in node.cases:
            self._env = before
            self._capture(case.pattern)
            self._visit(case.guard)
            self._suite(case.body)
            ends.append(self._env)
        self._env = join(*ends) if exhaustive(node) else join(before, *ends)

    def _capture(self, pattern: Node) -> None:
        if isinstance(pattern, (cst.MatchAs, cst.MatchStar)) and isinstance(pattern.name, cst.Name):
            self._bind(pattern.name.value, Binds.UNKNOWN, pattern)
        for child in children(pattern):
            if not isinstance(child, cst.BaseExpression):
                self._capture(child)


def exhaustive(node: cst.Match) -> bool:
    """Whether the last case takes whatever the others left."""
    last = node.cases[-1] if node.cases else None
    return (
        last is not None and last.guard is None and isinstance(last.pattern, cst.MatchAs) and not last.pattern.pattern
    )


def always(test: cst.BaseExpression) -> bool:
    """Whether a condition holds whenever the program runs as a program: true constants and the main guard."""
    if isinstance(test, cst.Name):
        return test.value == "True"
    if isinstance(test, cst.Integer):
        return test.value != "0"
    return is_main_guard(test)


def is_main_guard(test: cst.BaseExpression) -> bool:
    """Whether a condition holds for the program itself and not for modules that are imported."""
    if isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__":
        return isinstance(test.comparisons[0].operator, cst.Equal)
    return False


def is_guarded(tree: Tree, node: Node) -> bool:
    """Whether a place stands below a main guard, so that importing its module never runs it."""
    return any(isinstance(above, cst.If) and is_main_guard(above.test) for above in tree.ancestors(node))


_SMALL: dict[type, Callable[[Flow, Any], None]] = {
    cst.Assign: Flow._assign, cst.AnnAssign: Flow._ann_assign, cst.AugAssign: Flow._aug_assign,
    cst.Import: Flow._import, cst.ImportFrom: Flow._import_from, cst.Del: Flow._del, cst.Return: Flow._return,
    cst.Raise: Flow._raise, cst.Assert: Flow._assert, cst.Break: Flow._break, cst.Continue: Flow._continue,
}  # fmt: skip
_COMPOUND: dict[type, Callable[[Flow, Any], None]] = {
    cst.FunctionDef: Flow._function, cst.ClassDef: Flow._class, cst.If: Flow._if, cst.For: Flow._for,
    cst.While: Flow._while, cst.Try: Flow._try, cst.TryStar: Flow._try, cst.With: Flow._with, cst.Match: Flow._match,
}  # fmt: skip
