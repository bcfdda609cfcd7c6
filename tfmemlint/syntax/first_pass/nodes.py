"""Makers of libcst's nodes, without the checks of their constructors and without white space.

A field that is left out is not set: reading it raises AttributeError, which `is_absent` tells from other errors.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import libcst as cst

Make = Callable[..., Any]

_new = object.__new__


def is_absent(error: BaseException) -> bool:
    """Whether an error is that of code which reads a field that only libcst's own trees have."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, cst.CSTNode):
        return False
    return any(field.name == error.name for field in dataclasses.fields(error.obj))


def is_first_tree(module: cst.Module) -> bool:
    """Whether a tree was made here, and not by libcst's parser."""
    return not hasattr(module, "header")


def complete(nodes: Iterable[cst.CSTNode]) -> None:
    """Give nodes the white space and the parentheses that libcst gives those that are made without any, for code that
    asks for these; the module stays one that was made here."""
    for node in nodes:
        for name, make in _defaults(type(node)):
            if not hasattr(node, name):
                _setter(type(node), name)(node, make())


@cache
def _defaults(cls: type[cst.CSTNode]) -> list[tuple[str, Callable[[], Any]]]:
    found: list[tuple[str, Callable[[], Any]]] = []
    for field in dataclasses.fields(cls) if cls is not cst.Module else ():
        if field.default_factory is not dataclasses.MISSING:
            found.append((field.name, field.default_factory))
        elif field.default is not dataclasses.MISSING:
            found.append((field.name, partial(_same, field.default)))
    return found


def _same(value: Any) -> Any:
    return value


def _setter(cls: type[cst.CSTNode], field: str) -> Callable[[Any, Any], None]:
    """What writes a field of a node, which is frozen to others."""
    for each in cls.__mro__:
        found: Any = each.__dict__.get(field)
        if hasattr(found, "__set__"):
            write: Callable[[Any, Any], None] = found.__set__
            return write
    raise LookupError(f"{cls.__name__} has no slot {field!r}")


def maker(cls: type[cst.CSTNode], *fields: str) -> Make:
    """A function that makes a node from the values of these fields, by position.

    Most nodes have one to three fields; written out, these makers take a seventh off the time of a tree.
    """
    setters = [_setter(cls, field) for field in fields]
    if len(setters) == 1:
        return _of_one(cls, *setters)
    if len(setters) == 2:
        return _of_two(cls, *setters)
    if len(setters) == 3:
        return _of_three(cls, *setters)

    def make(*values: Any) -> Any:
        node = _new(cls)
        for set_field, value in zip(setters, values, strict=True):
            set_field(node, value)
        return node

    return make


def _of_one(cls: type[cst.CSTNode], set_first: Make) -> Make:
    def make(first: Any) -> Any:
        node = _new(cls)
        set_first(node, first)
        return node

    return make


def _of_two(cls: type[cst.CSTNode], set_first: Make, set_second: Make) -> Make:
    def make(first: Any, second: Any) -> Any:
        node = _new(cls)
        set_first(node, first)
        set_second(node, second)
        return node

    return make


def _of_three(cls: type[cst.CSTNode], set_first: Make, set_second: Make, set_third: Make) -> Make:
    def make(first: Any, second: Any, third: Any) -> Any:
        node = _new(cls)
        set_first(node, first)
        set_second(node, second)
        set_third(node, third)
        return node

    return make


def mark(cls: type[cst.CSTNode]) -> Any:
    """A node that is read for its class alone and is no node of the index: an operator, `async`."""
    return _new(cls)


ASYNC = mark(cst.Asynchronous)
DOT = mark(cst.Dot)
NOT_WRITTEN = cst.MaybeSentinel.DEFAULT

BINARY = {
    ast.Add: mark(cst.Add), ast.Sub: mark(cst.Subtract), ast.Mult: mark(cst.Multiply),
    ast.MatMult: mark(cst.MatrixMultiply), ast.Div: mark(cst.Divide), ast.Mod: mark(cst.Modulo),
    ast.Pow: mark(cst.Power), ast.LShift: mark(cst.LeftShift), ast.RShift: mark(cst.RightShift),
    ast.BitOr: mark(cst.BitOr), ast.BitXor: mark(cst.BitXor), ast.BitAnd: mark(cst.BitAnd),
    ast.FloorDiv: mark(cst.FloorDivide),
}  # fmt: skip
AUGMENTED = {
    ast.Add: mark(cst.AddAssign), ast.Sub: mark(cst.SubtractAssign), ast.Mult: mark(cst.MultiplyAssign),
    ast.MatMult: mark(cst.MatrixMultiplyAssign), ast.Div: mark(cst.DivideAssign), ast.Mod: mark(cst.ModuloAssign),
    ast.Pow: mark(cst.PowerAssign), ast.LShift: mark(cst.LeftShiftAssign), ast.RShift: mark(cst.RightShiftAssign),
    ast.BitOr: mark(cst.BitOrAssign), ast.BitXor: mark(cst.BitXorAssign), ast.BitAnd: mark(cst.BitAndAssign),
    ast.FloorDiv: mark(cst.FloorDivideAssign),
}  # fmt: skip
BOOLEAN = {ast.And: mark(cst.And), ast.Or: mark(cst.Or)}
UNARY = {
    ast.Not: mark(cst.Not), ast.USub: mark(cst.Minus), ast.UAdd: mark(cst.Plus), ast.Invert: mark(cst.BitInvert),
}  # fmt: skip
COMPARED = {
    ast.Eq: mark(cst.Equal), ast.NotEq: mark(cst.NotEqual), ast.Lt: mark(cst.LessThan),
    ast.LtE: mark(cst.LessThanEqual), ast.Gt: mark(cst.GreaterThan), ast.GtE: mark(cst.GreaterThanEqual),
    ast.Is: mark(cst.Is), ast.IsNot: mark(cst.IsNot), ast.In: mark(cst.In), ast.NotIn: mark(cst.NotIn),
}  # fmt: skip

# -- expressions -------------------------------------------------------------------------------------------------------

Name = maker(cst.Name, "value")
Attribute = maker(cst.Attribute, "value", "attr")
Call = maker(cst.Call, "func", "args")
Arg = maker(cst.Arg, "value", "keyword", "star")
SimpleString = maker(cst.SimpleString, "value")
ConcatenatedString = maker(cst.ConcatenatedString, "left", "right")
FormattedString = maker(cst.FormattedString, "parts", "start", "end")
Integer = maker(cst.Integer, "value")
Float = maker(cst.Float, "value")
Imaginary = maker(cst.Imaginary, "value")
Ellipsis = maker(cst.Ellipsis)
BinaryOperation = maker(cst.BinaryOperation, "left", "operator", "right")
BooleanOperation = maker(cst.BooleanOperation, "left", "operator", "right")
UnaryOperation = maker(cst.UnaryOperation, "operator", "expression")
Comparison = maker(cst.Comparison, "left", "comparisons")
ComparisonTarget = maker(cst.ComparisonTarget, "operator", "comparator")
Subscript = maker(cst.Subscript, "value", "slice")
SubscriptElement = maker(cst.SubscriptElement, "slice")
Index = maker(cst.Index, "value", "star")
Slice = maker(cst.Slice, "lower", "upper", "step")
Tuple = maker(cst.Tuple, "elements")
List = maker(cst.List, "elements")
Set = maker(cst.Set, "elements")
Element = maker(cst.Element, "value")
StarredElement = maker(cst.StarredElement, "value")
Dict = maker(cst.Dict, "elements")
DictElement = maker(cst.DictElement, "key", "value")
StarredDictElement = maker(cst.StarredDictElement, "value")
ListComp = maker(cst.ListComp, "elt", "for_in")
SetComp = maker(cst.SetComp, "elt", "for_in")
GeneratorExp = maker(cst.GeneratorExp, "elt", "for_in")
DictComp = maker(cst.DictComp, "key", "value", "for_in")
CompFor = maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
CompIf = maker(cst.CompIf, "test")
IfExp = maker(cst.IfExp, "test", "body", "orelse")
Lambda = maker(cst.Lambda, "params", "body")
NamedExpr = maker(cst.NamedExpr, "target", "value")
Await = maker(cst.Await, "expression")
Yield = maker(cst.Yield, "value")
From = maker(cst.From, "item")
Parameters = maker(cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params")
Param = maker(cst.Param, "name", "annotation", "default", "star")
ParamStar = maker(cst.ParamStar)
Annotation = maker(cst.Annotation, "annotation")

# -- statements --------------------------------------------------------------------------------------------------------

SimpleStatementLine = maker(cst.SimpleStatementLine, "body", "trailing_whitespace")
TrailingWhitespace = maker(cst.TrailingWhitespace, "comment")
Comment = maker(cst.Comment, "value")
NO_COMMENT = TrailingWhitespace(None)
SimpleStatementSuite = maker(cst.SimpleStatementSuite, "body")
IndentedBlock = maker(cst.IndentedBlock, "body")
Expr = maker(cst.Expr, "value")
Assign = maker(cst.Assign, "targets", "value")
AssignTarget = maker(cst.AssignTarget, "target")
AnnAssign = maker(cst.AnnAssign, "target", "annotation", "value")
AugAssign = maker(cst.AugAssign, "target", "operator", "value")
Return = maker(cst.Return, "value")
Raise = maker(cst.Raise, "exc", "cause")
Del = maker(cst.Del, "target")
Pass = maker(cst.Pass)
Break = maker(cst.Break)
Continue = maker(cst.Continue)
Global = maker(cst.Global, "names")
Nonlocal = maker(cst.Nonlocal, "names")
NameItem = maker(cst.NameItem, "name")
Import = maker(cst.Import, "names")
ImportFrom = maker(cst.ImportFrom, "module", "names", "relative")
ImportAlias = maker(cst.ImportAlias, "name", "asname")
ImportStar = maker(cst.ImportStar)
AsName = maker(cst.AsName, "name")
Assert = maker(cst.Assert, "test", "msg")
If = maker(cst.If, "test", "body", "orelse")
Else = maker(cst.Else, "body")
Finally = maker(cst.Finally, "body")
For = maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
While = maker(cst.While, "test", "body", "orelse")
Try = maker(cst.Try, "body", "handlers", "orelse", "finalbody")
TryStar = maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
ExceptHandler = maker(cst.ExceptHandler, "body", "type", "name")
ExceptStarHandler = maker(cst.ExceptStarHandler, "body", "type", "name")
With = maker(cst.With, "items", "body", "asynchronous")
WithItem = maker(cst.WithItem, "item", "asname")
FunctionDef = maker(cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous")
ClassDef = maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators")
Decorator = maker(cst.Decorator, "decorator")
Module = maker(cst.Module, "body")
