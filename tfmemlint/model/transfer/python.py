"""Python's builtins, where they carry values that rules ask about."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model import records
from tfmemlint.model.arguments import PARSER, namespace
from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import (
    Api,
    Array,
    Const,
    Dataset,
    Devices,
    Function,
    Instance,
    Iterator,
    Length,
    Mapping,
    Method,
    Sequence,
    Table,
    Unknown,
    Value,
    constant,
    fold,
    integer,
    number,
)
from tfmemlint.syntax.numbers import range_length

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

B = "builtins."

LONGEST_RANGE = 8
"""Items up to which a `range` is written out."""


@models(B + "len")
def _len(call: Call, target: Value) -> Value:
    of = call.value_of(0)
    count: int | None = None
    if (isinstance(of, Sequence) and not of.open) or (isinstance(of, Mapping) and not of.open):
        count = len(of.items)
    elif isinstance(of, Array) and of.shape:
        count = of.shape[0]
    elif isinstance(of, Dataset):
        count = of.count
    elif isinstance(of, Const) and isinstance(of.value, (str, bytes)):
        count = len(of.value)
    return Length(Unknown("a table") if isinstance(of, Table) else of, count)


@models(B + "range", "tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange")
def _range(call: Call, target: Value) -> Value:
    bounds = [integer(call.value_of(i)) for i in range(3) if call.arg(i) is not None]
    length = None if call.open else range_length(bounds)
    if length is not None and length <= LONGEST_RANGE:
        return Sequence(tuple(Const(i) for i in range(*[b for b in bounds if b is not None])), "range")
    return Iterator(Length(Api("builtins.range"), length), Unknown("an index"), "range")


@models(B + "enumerate")
def _enumerate(call: Call, target: Value) -> Value:
    of = call.value_of(0)
    return Iterator(of, Sequence((Unknown("an index"), of.iterated())), "enumerate")


@models(B + "zip")
def _zip(call: Call, target: Value) -> Value:
    given = [call.evaluator.value(arg.value, call.frame) for arg in call.node.args]
    return Iterator(Sequence(tuple(given)), Sequence(tuple(v.iterated() for v in given)), "zip")


@models(
    B + "iter",
    B + "reversed",
    B + "sorted",
    B + "filter",
    "tqdm.tqdm",
    "tqdm.notebook.tqdm",
    "tqdm.auto.tqdm",
)
def _iter(call: Call, target: Value) -> Value:
    of = call.value_of(0)
    name = getattr(target, "name", "iter").rpartition(".")[2]
    return Iterator(of, of.iterated(), name) if of.known else of


@models(B + "next")
def _next(call: Call, target: Value) -> Value:
    of = call.value_of(0)
    if isinstance(of, Iterator) and of.function == "iter" and isinstance(of.of, Devices):
        return of.of.item_at(Const(0))
    return of.iterated()


@models(B + "list", B + "tuple", B + "set")
def _list(call: Call, target: Value) -> Value:
    kind = getattr(target, "name", "").rpartition(".")[2]
    if not call.node.args:
        return Sequence((), kind, open=kind == "list")
    of = call.value_of(0)
    if isinstance(of, Sequence):
        return Sequence(of.items, kind, of.open)
    if isinstance(of, Devices):
        return of
    return Iterator(of, of.iterated(), kind) if of.known else of


@models(B + "dict")
def _dict(call: Call, target: Value) -> Value:
    if not call.node.args or call.open or any(arg.keyword is None for arg in call.node.args):
        return Unknown("a dictionary")
    return Mapping(tuple((a.keyword.value, call.value_of(a.keyword.value)) for a in call.node.args if a.keyword))


@models(B + "dict.items", B + "dict.values")
def _view(call: Call, target: Value) -> Value:
    of = target.receiver if isinstance(target, Method) else target
    if not isinstance(of, Mapping) or of.open or not of.items:
        return Unknown("what a dictionary holds")
    if getattr(target, "name", "").endswith("values"):
        return Sequence(tuple(value for _, value in of.items), "view")
    return Sequence(tuple(Sequence((_key(key), value)) for key, value in of.items), "view")


def _key(key: object) -> Value:
    return Const(key) if isinstance(key, (int, float, str, bool)) else Unknown("a key")


@models(B + "dict.get")
def _get(call: Call, target: Value) -> Value:
    of, key = target.receiver if isinstance(target, Method) else target, constant(call.value_of(0))
    found = of.get(key) if isinstance(of, Mapping) and key is not None else Unknown("no such key")
    return found  # a key that the display lacks may be set later


@models(B + "int", B + "float", B + "str", B + "bool", B + "abs", B + "round")
def _convert(call: Call, target: Value) -> Value:
    name = getattr(target, "name", "").rpartition(".")[2]
    if len(call.node.args) != 1:
        return Unknown(f"{name}()")
    given = call.value_of(0)
    found = constant(given)
    if name == "int" and isinstance(given, Length):
        return given
    if isinstance(found, (int, float, str)):
        convert = {"int": int, "float": float, "str": str, "bool": bool, "abs": abs, "round": round}[name]
        try:
            converted = convert(found)  # type: ignore[operator]
        except (ValueError, TypeError, OverflowError):
            return Unknown(f"{name}() raises")
        return Const(converted) if isinstance(converted, str) else number(converted)
    return Unknown(f"{name}() of something not known")


@models(B + "min", B + "max")
def _extreme(call: Call, target: Value) -> Value:
    name = getattr(target, "name", "").rpartition(".")[2]
    found = [constant(call.evaluator.value(arg.value, call.frame)) for arg in call.node.args]
    given = call.value_of(0)
    if len(found) == 1 and isinstance(given, Sequence) and not given.open:
        found = [constant(item) for item in given.items]
    numbers = [n for n in found if isinstance(n, (int, float))]
    if len(found) < 2 or len(numbers) != len(found):
        return Unknown(f"{name}() of something not known")
    return Const(min(numbers) if name == "min" else max(numbers))


@models("functools.partial")
def _partial(call: Call, target: Value) -> Value:
    function = call.value_of(0)
    if isinstance(function, Function) and function.partial is None:
        return replace(function, partial=call)
    return Instance("functools.partial", call)


@models(B + "super")
def _super(call: Call, target: Value) -> Value:
    file = call.evaluator.file
    function = file.contexts.function(call.node)
    owner = file.class_of(function) if function is not None else None
    if owner is None:
        return Unknown("super() outside of a method")
    api, own = call.evaluator.classes.bases(owner)
    if own:
        return call.evaluator.classes.instance(own[0], None)
    return Instance(api) if api is not None else Unknown("a class without known bases")


@models("argparse.ArgumentParser.parse_args", "argparse.ArgumentParser.parse_known_args")
def _parsed(call: Call, target: Value) -> Value:
    name = getattr(target, "name", "")
    return Sequence((namespace(call), Unknown("the rest"))) if name.endswith("known_args") else namespace(call)


@models("argparse.Namespace", records.RECORD, f"{records.NAMED_TUPLE}.__call__")
def _record(call: Call, target: Value) -> Value:
    return records.made(call)


@models(records.NAMED_TUPLE)
def _named_tuple(call: Call, target: Value) -> Value:
    return Instance(records.NAMED_TUPLE, call)


@models("argparse.ArgumentParser")
def _parser(call: Call, target: Value) -> Value:
    return Instance(PARSER, call)


@models(B + "sum", B + "pow", "math.ceil", "math.floor", "math.sqrt", "math.prod", "np.ceil", "np.floor", "np.prod")
def _calculated(call: Call, target: Value) -> Value:
    name = getattr(target, "name", "").rpartition(".")[2]
    given = [call.value_of(i) for i in range(len(call.node.args))]
    if len(given) == 1 and isinstance(given[0], Sequence) and not given[0].open and name in ("sum", "prod"):
        given = list(given[0].items)
    elif name in ("sum", "prod"):
        return Unknown(f"{name}() of something not known")
    numbers = [constant(value) for value in given]
    if call.open or any(not isinstance(n, (int, float)) for n in numbers):
        return Unknown(f"{name}() of something not known")
    functions = {"sum": lambda *n: sum(n), "prod": lambda *n: math.prod(n), "pow": lambda a, b: fold_power(a, b)}
    try:
        return number((functions.get(name) or getattr(math, name))(*numbers))
    except (ValueError, TypeError, OverflowError):
        return Unknown(f"{name}() raises")


def fold_power(base: float, exponent: float) -> complex:
    """`pow(a, b)` where it stays small; raises OverflowError elsewhere."""
    result = fold("Power", base, exponent)
    if not isinstance(result, Const) or not isinstance(result.value, (int, float)):
        raise OverflowError
    return result.value


@models("tf.function")
def _traced(call: Call, target: Value) -> Value:
    function = call.value_of("func")
    if isinstance(function, Function):
        return Function(function.node, function.receiver, True, function.frame)
    return function if function.known and call.arg("func") is not None else Unknown("a traced function")
