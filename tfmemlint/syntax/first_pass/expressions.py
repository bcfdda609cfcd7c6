"""Expressions of `ast` as libcst's nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import libcst as cst

from tfmemlint.syntax.first_pass import nodes
from tfmemlint.syntax.first_pass.layout import Layout, Unsupported, literals

ParseExpression = Callable[[str], cst.BaseExpression]
"""libcst's own parser, for the few expressions that only it reads; raises Unsupported where it does not."""


class Expressions:
    """Makes nodes of the expressions of one program."""

    def __init__(self, layout: Layout, parse: ParseExpression) -> None:
        self.layout = layout
        self.parse = parse

    def expression(self, node: ast.expr) -> Any:
        """The node of an expression."""
        return _EXPRESSIONS[node.__class__](self, node)

    def optional(self, node: ast.expr | None) -> Any:
        return None if node is None else self.expression(node)

    # -- names and literals --------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> Any:
        return nodes.Name(node.id)

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        kind = value.__class__
        if kind is str or kind is bytes:
            return self._string(node)
        if kind is int:
            return nodes.Integer(self.layout.text(node))
        if kind is float:
            return nodes.Float(self.layout.text(node))
        if kind is complex:
            return nodes.Imaginary(self.layout.text(node))
        return nodes.Ellipsis() if value is Ellipsis else nodes.Name(repr(value))

    def _string(self, node: ast.Constant) -> Any:
        parts = literals(self.layout.text(node))
        if parts is None:
            raise Unsupported("a string of another kind")
        made = nodes.SimpleString(parts.pop())
        while parts:
            made = nodes.ConcatenatedString(nodes.SimpleString(parts.pop()), made)
        return made

    def _formatted(self, node: ast.JoinedStr) -> Any:
        parsed = self.parse(self.layout.text(node))
        if isinstance(parsed, cst.FormattedString):
            return nodes.FormattedString(parsed.parts, parsed.start, parsed.end)
        if isinstance(parsed, cst.ConcatenatedString):
            return nodes.ConcatenatedString(parsed.left, parsed.right)
        raise Unsupported("a formatted string of another kind")

    # -- calls, attributes, items --------------------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute) -> Any:
        return nodes.Attribute(self.expression(node.value), nodes.Name(node.attr))

    def _call(self, node: ast.Call) -> Any:
        return nodes.Call(self.expression(node.func), self.arguments(node.args, node.keywords))

    def arguments(self, given: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> list[Any]:
        """The arguments of a call in the order of the text, in which `*args` may stand behind keywords."""
        if not keywords:
            return [self._positional(each) for each in given]
        if given and given[-1].__class__ is ast.Starred:
            both: list[ast.expr | ast.keyword] = [*given, *keywords]
            both.sort(key=lambda each: (each.lineno, each.col_offset))
            return [self.keyword(each) if isinstance(each, ast.keyword) else self._positional(each) for each in both]
        return [*map(self._positional, given), *map(self.keyword, keywords)]

    def _positional(self, node: ast.expr) -> Any:
        if node.__class__ is ast.Starred:
            return nodes.Arg(self.expression(node.value), None, "*")
        return nodes.Arg(self.expression(node), None, "")

    def keyword(self, node: ast.keyword) -> Any:
        """The node of an argument that is given by its name, or of `**kwargs`."""
        if node.arg is None:
            return nodes.Arg(self.expression(node.value), None, "**")
        keyword = nodes.Name(node.arg)
        return nodes.Arg(self.expression(node.value), keyword, "")

    def _subscript(self, node: ast.Subscript) -> Any:
        inside = node.slice
        if inside.__class__ is ast.Tuple and self.layout.is_bare(inside):
            items = [self._item(each) for each in inside.elts]
        else:
            items = [self._item(inside)]
        return nodes.Subscript(self.expression(node.value), items)

    def _item(self, node: ast.expr) -> Any:
        if node.__class__ is ast.Slice:
            lower, upper, step = node.lower, node.upper, node.step
            return nodes.SubscriptElement(nodes.Slice(self.optional(lower), self.optional(upper), self.optional(step)))
        if node.__class__ is ast.Starred:
            return nodes.SubscriptElement(nodes.Index(self.expression(node.value), "*"))
        return nodes.SubscriptElement(nodes.Index(self.expression(node), None))

    # -- operators -----------------------------------------------------------------------------------------------------

    def _binary(self, node: ast.BinOp) -> Any:
        left = self.expression(node.left)
        return nodes.BinaryOperation(left, nodes.BINARY[node.op.__class__], self.expression(node.right))

    def _boolean(self, node: ast.BoolOp) -> Any:
        operator = nodes.BOOLEAN[node.op.__class__]
        made = self.expression(node.values[0])
        for value in node.values[1:]:
            made = nodes.BooleanOperation(made, operator, self.expression(value))
        return made

    def _unary(self, node: ast.UnaryOp) -> Any:
        return nodes.UnaryOperation(nodes.UNARY[node.op.__class__], self.expression(node.operand))

    def _compare(self, node: ast.Compare) -> Any:
        targets = [
            nodes.ComparisonTarget(nodes.COMPARED[operator.__class__], self.expression(value))
            for operator, value in zip(node.ops, node.comparators, strict=True)
        ]
        return nodes.Comparison(self.expression(node.left), targets)

    def _conditional(self, node: ast.IfExp) -> Any:
        return nodes.IfExp(self.expression(node.test), self.expression(node.body), self.expression(node.orelse))

    def _named(self, node: ast.NamedExpr) -> Any:
        return nodes.NamedExpr(self.expression(node.target), self.expression(node.value))

    # -- displays and comprehensions -----------------------------------------------------------------------------------

    def elements(self, items: Sequence[ast.expr]) -> list[Any]:
        """The items of a display."""
        return [
            nodes.StarredElement(self.expression(each.value))
            if each.__class__ is ast.Starred
            else nodes.Element(self.expression(each))
            for each in items
        ]

    def _tuple(self, node: ast.Tuple) -> Any:
        return nodes.Tuple(self.elements(node.elts))

    def _list(self, node: ast.List) -> Any:
        return nodes.List(self.elements(node.elts))

    def _set(self, node: ast.Set) -> Any:
        return nodes.Set(self.elements(node.elts))

    def _dict(self, node: ast.Dict) -> Any:
        return nodes.Dict([
            nodes.StarredDictElement(self.expression(value))
            if key is None
            else nodes.DictElement(self.expression(key), self.expression(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ])  # fmt: skip

    def _loops(self, generators: Sequence[ast.comprehension]) -> Any:
        made = None
        for each in reversed(generators):
            conditions = [nodes.CompIf(self.expression(condition)) for condition in each.ifs]
            target, iterated = self.expression(each.target), self.expression(each.iter)
            made = nodes.CompFor(target, iterated, conditions, made, nodes.ASYNC if each.is_async else None)
        return made

    def _list_comprehension(self, node: ast.ListComp) -> Any:
        return nodes.ListComp(self.expression(node.elt), self._loops(node.generators))

    def _set_comprehension(self, node: ast.SetComp) -> Any:
        return nodes.SetComp(self.expression(node.elt), self._loops(node.generators))

    def _generator(self, node: ast.GeneratorExp) -> Any:
        return nodes.GeneratorExp(self.expression(node.elt), self._loops(node.generators))

    def _dict_comprehension(self, node: ast.DictComp) -> Any:
        if node.value is None:  # `{**each for each in dicts}` of newer Pythons
            raise Unsupported("a comprehension of another kind")
        return nodes.DictComp(self.expression(node.key), self.expression(node.value), self._loops(node.generators))

    # -- functions -----------------------------------------------------------------------------------------------------

    def _lambda(self, node: ast.Lambda) -> Any:
        return nodes.Lambda(self.parameters(node.args), self.expression(node.body))

    def _await(self, node: ast.Await) -> Any:
        return nodes.Await(self.expression(node.value))

    def _yield(self, node: ast.Yield) -> Any:
        return nodes.Yield(self.optional(node.value))

    def _yield_from(self, node: ast.YieldFrom) -> Any:
        return nodes.Yield(nodes.From(self.expression(node.value)))

    def annotation(self, node: ast.expr | None) -> Any:
        return None if node is None else nodes.Annotation(self.expression(node))

    def parameters(self, of: ast.arguments) -> Any:
        """The parameters of a function or lambda."""
        by_place = [*of.posonlyargs, *of.args]
        defaults: list[ast.expr | None] = [None] * (len(by_place) - len(of.defaults))
        defaults += of.defaults
        made = [self.parameter(*pair, "") for pair in zip(by_place, defaults, strict=True)]
        if of.vararg is not None:
            star = self.parameter(of.vararg, None, "*")
        else:
            star = nodes.ParamStar() if of.kwonlyargs else nodes.NOT_WRITTEN
        by_name = [self.parameter(*pair, "") for pair in zip(of.kwonlyargs, of.kw_defaults, strict=True)]
        rest = None if of.kwarg is None else self.parameter(of.kwarg, None, "**")
        count = len(of.posonlyargs)
        return nodes.Parameters(made[count:], star, by_name, rest, made[:count])

    def parameter(self, of: ast.arg, default: ast.expr | None, star: str) -> Any:
        """The node of one parameter."""
        return nodes.Param(nodes.Name(of.arg), self.annotation(of.annotation), self.optional(default), star)

    def _refuse(self, node: ast.expr) -> Any:
        raise Unsupported(f"{type(node).__name__}")


class _Table(dict[type, Callable[..., Any]]):
    """What makes a node, by the class of `ast`; for classes that newer Pythons have, a refusal."""

    def __missing__(self, kind: type) -> Callable[..., Any]:
        return Expressions._refuse


_EXPRESSIONS = _Table({
    ast.Name: Expressions._name, ast.Constant: Expressions._constant, ast.JoinedStr: Expressions._formatted,
    ast.Attribute: Expressions._attribute, ast.Call: Expressions._call, ast.Subscript: Expressions._subscript,
    ast.BinOp: Expressions._binary, ast.BoolOp: Expressions._boolean, ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare, ast.IfExp: Expressions._conditional, ast.NamedExpr: Expressions._named,
    ast.Tuple: Expressions._tuple, ast.List: Expressions._list, ast.Set: Expressions._set, ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._list_comprehension, ast.SetComp: Expressions._set_comprehension,
    ast.GeneratorExp: Expressions._generator, ast.DictComp: Expressions._dict_comprehension,
    ast.Lambda: Expressions._lambda, ast.Await: Expressions._await, ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield_from,
})  # fmt: skip
