"""Statements of `ast` as libcst's nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from tfmemlint.syntax.first_pass import nodes
from tfmemlint.syntax.first_pass.expressions import Expressions
from tfmemlint.syntax.first_pass.layout import Unsupported


class Statements(Expressions):
    """Makes nodes of the statements of one program, and of the expressions in them."""

    def block(self, statements: Sequence[ast.stmt]) -> list[Any]:
        """The lines and compound statements of a block."""
        made: list[Any] = []
        line: list[Any] | None = None
        for each in statements:
            if each.__class__ not in _SIMPLE:
                made.append(self.compound(each))
                line = None
                continue
            if line is None:
                line = []
            line.append(self.simple(each))
            if not self.layout.goes_on(each):
                made.append(self._line(line, each))
                line = None
        return made

    def _line(self, statements: list[Any], last: ast.stmt) -> Any:
        comment = self.layout.comment(last)
        behind = nodes.NO_COMMENT if comment is None else nodes.TrailingWhitespace(nodes.Comment(comment))
        return nodes.SimpleStatementLine(statements, behind)

    def simple(self, statement: ast.stmt) -> Any:
        """The node of a statement without a block."""
        return _SIMPLE[statement.__class__](self, statement)

    def compound(self, statement: ast.stmt) -> Any:
        """The node of a statement that has a block."""
        make = _COMPOUND.get(statement.__class__)
        if make is None:
            raise Unsupported(type(statement).__name__)
        return make(self, statement)

    def suite(self, statements: Sequence[ast.stmt]) -> Any:
        """The block of a compound statement, which may stand on the line of its header."""
        first = statements[0]
        if first.__class__ in _SIMPLE and self.layout.is_on_header(first):
            return nodes.SimpleStatementSuite([self.simple(each) for each in statements])
        return nodes.IndentedBlock(self.block(statements))

    # -- simple statements ---------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr) -> Any:
        return nodes.Expr(self.expression(node.value))

    def _assign(self, node: ast.Assign) -> Any:
        targets = [nodes.AssignTarget(self.expression(each)) for each in node.targets]
        return nodes.Assign(targets, self.expression(node.value))

    def _annotated(self, node: ast.AnnAssign) -> Any:
        target = self.expression(node.target)
        return nodes.AnnAssign(target, self.annotation(node.annotation), self.optional(node.value))

    def _augmented(self, node: ast.AugAssign) -> Any:
        target = self.expression(node.target)
        return nodes.AugAssign(target, nodes.AUGMENTED[node.op.__class__], self.expression(node.value))

    def _return(self, node: ast.Return) -> Any:
        return nodes.Return(self.optional(node.value))

    def _raise(self, node: ast.Raise) -> Any:
        error = self.optional(node.exc)
        return nodes.Raise(error, None if node.cause is None else nodes.From(self.expression(node.cause)))

    def _delete(self, node: ast.Delete) -> Any:
        targets = node.targets
        if len(targets) == 1 and not self.layout.has_comma(targets[0], node):
            return nodes.Del(self.expression(targets[0]))
        return nodes.Del(nodes.Tuple(self.elements(targets)))

    def _pass(self, node: ast.Pass) -> Any:
        return nodes.Pass()

    def _break(self, node: ast.Break) -> Any:
        return nodes.Break()

    def _continue(self, node: ast.Continue) -> Any:
        return nodes.Continue()

    def _global(self, node: ast.Global) -> Any:
        return nodes.Global([nodes.NameItem(nodes.Name(name)) for name in node.names])

    def _nonlocal(self, node: ast.Nonlocal) -> Any:
        return nodes.Nonlocal([nodes.NameItem(nodes.Name(name)) for name in node.names])

    def _assert(self, node: ast.Assert) -> Any:
        return nodes.Assert(self.expression(node.test), self.optional(node.msg))

    def _import(self, node: ast.Import) -> Any:
        if getattr(node, "is_lazy", 0):
            raise Unsupported("a lazy import")
        return nodes.Import([self.alias(each) for each in node.names])

    def _import_from(self, node: ast.ImportFrom) -> Any:
        if getattr(node, "is_lazy", 0):
            raise Unsupported("a lazy import")
        names = nodes.ImportStar() if node.names[0].name == "*" else [self.alias(each) for each in node.names]
        return nodes.ImportFrom(None if node.module is None else _dotted(node.module), names, [nodes.DOT] * node.level)

    def alias(self, node: ast.alias) -> Any:
        """The node of one name that is imported."""
        name = _dotted(node.name)
        return nodes.ImportAlias(name, None if node.asname is None else nodes.AsName(nodes.Name(node.asname)))

    # -- compound statements -------------------------------------------------------------------------------------------

    def _else(self, statements: Sequence[ast.stmt]) -> Any:
        return nodes.Else(self.suite(statements)) if statements else None

    def _if(self, node: ast.If) -> Any:
        links = [node]
        while self._has_elif(links[-1].orelse):
            links.append(links[-1].orelse[0])  # type: ignore[arg-type]
        made = self._else(links[-1].orelse)
        for link in reversed(links):
            made = self.branch(link, made)
        return made

    def branch(self, node: ast.If, otherwise: Any) -> Any:
        """The node of an `if` or `elif`, and what is behind it."""
        return nodes.If(self.expression(node.test), self.suite(node.body), otherwise)

    def _has_elif(self, statements: Sequence[ast.stmt]) -> bool:
        return len(statements) == 1 and statements[0].__class__ is ast.If and self.layout.says(b"elif", statements[0])

    def _for(self, node: ast.For | ast.AsyncFor) -> Any:
        target, iterated = self.expression(node.target), self.expression(node.iter)
        asynchronous = nodes.ASYNC if node.__class__ is ast.AsyncFor else None
        return nodes.For(target, iterated, self.suite(node.body), self._else(node.orelse), asynchronous)

    def _while(self, node: ast.While) -> Any:
        return nodes.While(self.expression(node.test), self.suite(node.body), self._else(node.orelse))

    def _try(self, node: ast.Try) -> Any:
        make, handle = (nodes.Try, nodes.ExceptHandler)
        if node.__class__ is not ast.Try:
            make, handle = (nodes.TryStar, nodes.ExceptStarHandler)
        body = self.suite(node.body)
        handlers = [self.handler(each, handle) for each in node.handlers]
        last = nodes.Finally(self.suite(node.finalbody)) if node.finalbody else None
        return make(body, handlers, self._else(node.orelse), last)

    def handler(self, node: ast.ExceptHandler, make: nodes.Make) -> Any:
        """The node of an `except`."""
        name = None if node.name is None else nodes.AsName(nodes.Name(node.name))
        return make(self.suite(node.body), self.optional(node.type), name)

    def _with(self, node: ast.With | ast.AsyncWith) -> Any:
        items = [self.entered(each) for each in node.items]
        return nodes.With(items, self.suite(node.body), nodes.ASYNC if node.__class__ is ast.AsyncWith else None)

    def entered(self, node: ast.withitem) -> Any:
        """The node of a context manager, and of what it is bound to."""
        name = None if node.optional_vars is None else nodes.AsName(self.expression(node.optional_vars))
        return nodes.WithItem(self.expression(node.context_expr), name)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        decorators = [nodes.Decorator(self.expression(each)) for each in node.decorator_list]
        parameters, returns = self.parameters(node.args), self.annotation(node.returns)
        asynchronous = nodes.ASYNC if node.__class__ is ast.AsyncFunctionDef else None
        body = self.suite(node.body)
        return nodes.FunctionDef(nodes.Name(node.name), parameters, body, decorators, returns, asynchronous)

    def _class(self, node: ast.ClassDef) -> Any:
        decorators = [nodes.Decorator(self.expression(each)) for each in node.decorator_list]
        given = self.arguments(node.bases, node.keywords)
        # As libcst has it: what stands behind the first keyword is none of the bases.
        count = next((index for index, each in enumerate(given) if each.keyword is not None or each.star == "**"), None)
        bases, keywords = (given, []) if count is None else (given[:count], given[count:])
        return nodes.ClassDef(nodes.Name(node.name), self.suite(node.body), bases, keywords, decorators)


def _dotted(path: str) -> Any:
    first, *rest = path.split(".")
    made = nodes.Name(first)
    for part in rest:
        made = nodes.Attribute(made, nodes.Name(part))
    return made


_SIMPLE: dict[type, Callable[..., Any]] = {
    ast.Expr: Statements._expression, ast.Assign: Statements._assign, ast.AnnAssign: Statements._annotated,
    ast.AugAssign: Statements._augmented, ast.Return: Statements._return, ast.Raise: Statements._raise,
    ast.Delete: Statements._delete, ast.Pass: Statements._pass, ast.Break: Statements._break,
    ast.Continue: Statements._continue, ast.Global: Statements._global, ast.Nonlocal: Statements._nonlocal,
    ast.Import: Statements._import, ast.ImportFrom: Statements._import_from, ast.Assert: Statements._assert,
}  # fmt: skip
_COMPOUND: dict[type, Callable[..., Any]] = {
    ast.If: Statements._if, ast.For: Statements._for, ast.AsyncFor: Statements._for, ast.While: Statements._while,
    ast.Try: Statements._try, ast.With: Statements._with, ast.AsyncWith: Statements._with,
    ast.FunctionDef: Statements._function, ast.AsyncFunctionDef: Statements._function, ast.ClassDef: Statements._class,
}  # fmt: skip
if hasattr(ast, "TryStar"):  # Python 3.11
    _COMPOUND[ast.TryStar] = Statements._try
