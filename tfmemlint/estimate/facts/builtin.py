"""Python's own functions, and those of its library that programs build models with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.estimate.facts import objects
from tfmemlint.estimate.facts.asked import Arguments
from tfmemlint.estimate.facts.known import element_of, isinstance_of, items
from tfmemlint.estimate.facts.values import (
    EXITS,
    MISSING,
    NONE,
    Bound,
    Closure,
    Gradients,
    Held,
    Kind,
    Listed,
    Loop,
    Object,
    Open,
    Variables,
    opened,
    plain,
)  # fmt: skip
from tfmemlint.model.values import (
    Api,
    Array,
    Const,
    Dataset,
    Iterator,
    Length,
    Mapping,
    Sequence,
    Unknown,
    Value,
    constant,
    integer,
)  # fmt: skip
from tfmemlint.syntax.numbers import range_length

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

Handler = Callable[["Machine", Arguments, cst.Call], "Value | None"]
TABLE: dict[str, Handler] = {}
"""Functions by their names; one that gives None leaves the answer to the model."""

LONGEST_RANGE = 5000


def models(*names: str) -> Callable[[Handler], Handler]:
    """Register what functions of these names give."""

    def register(handler: Handler) -> Handler:
        for name in names:
            TABLE[name if "." in name else f"builtins.{name}"] = handler
        return handler

    return register


@models("range")
def _range(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    bounds = [integer(each) for each in given.positions]
    length = range_length(bounds)
    if length is None:
        return Iterator(opened(Unknown("range"), given.positions), Open("an index"), "range")
    if length > LONGEST_RANGE:
        return Iterator(Length(Api("builtins.range"), length), Unknown("an index"), "range")
    return Loop(tuple(map(Const, range(*(each for each in bounds if each is not None)))))


@models("len")
def _len(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    known = items(given.positions[0]) if given.positions else None
    if known is None:
        return Unknown("a length") if isinstance(given.get(0), Unknown) else None
    return Const(len(known))


@models("enumerate")
def _enumerate(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    of, start = given.get(0), given.get(1, "start")
    known = items(of) if of is not None else None
    if known is None:
        return _wrapped(of, lambda item: Sequence((Unknown("an index"), item)), "enumerate")
    first = (integer(start) or 0) if start is not None else 0
    return Loop(tuple(Sequence((Const(i), item)) for i, item in enumerate(known, first)))


def _wrapped(of: Value | None, change: Callable[[Value], Value], word: str) -> Value:
    return Iterator(plain(of), change(element_of(of)), word) if of is not None else Unknown(word)


@models("zip")
def _zip(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    gradients = next((each for each in given.positions if isinstance(each, Gradients)), None)
    if gradients is not None:
        return gradients
    columns = [items(each) for each in given.positions]
    known = [column for column in columns if column is not None]
    if len(known) == len(columns):
        return Loop(tuple(Sequence(row) for row in zip(*known, strict=False)))
    item = Sequence(tuple(element_of(each) for each in given.positions))
    return Iterator(Sequence(tuple(map(plain, given.positions))), item, "zip")


@models("list", "tuple", "set", "sorted", "reversed", "iter", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm",
        "tqdm.autonotebook.tqdm")  # fmt: skip
def _list(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    word = node.func.value if isinstance(node.func, cst.Name) else ""
    of = given.get(0, "iterable")
    known = () if of is None else items(of)
    if isinstance(of, (Gradients, Variables)):
        return of
    if known is None:
        return of if isinstance(of, (Dataset, Object)) and word not in ("list", "sorted") else (
            _wrapped(of, lambda item: item, word or "iter")
        )  # fmt: skip
    if word == "reversed":
        known = known[::-1]
    if word == "sorted":
        numbers = [constant(each) for each in known]
        if not all(isinstance(each, (int, float)) for each in numbers):
            return Unknown("a sorted list")
        down = constant(given.names.get("reverse", Const(False))) is True
        known = tuple(sorted(known, key=lambda each: constant(each), reverse=down))  # type: ignore[arg-type, return-value]
    if word in ("list", "sorted"):
        return objects.new_list(Sequence(known, "list"))
    return Sequence(known) if word in ("tuple", "set") else Loop(known)


@models("dict")
def _dict(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    found: dict[object, Value] = {}
    of = given.get(0)
    if isinstance(of, Listed) and isinstance(of.items, Mapping):
        found.update(of.items.items)
    elif of is not None:
        pairs = [items(each) for each in items(of) or ()]
        found.update((constant(pair[0]), pair[1]) for pair in pairs if pair is not None and len(pair) == 2)
    found.update(given.names)
    return Listed({"items": Mapping(tuple(found.items()), given.open)})


@models("int", "float", "abs", "round", "math.ceil", "math.floor", "math.sqrt", "math.log2", "math.log", "math.exp",
        "np.ceil", "np.floor", "np.sqrt", "np.log2", "np.log", "str", "bool", "np.abs", "np.absolute", "np.round",
        "np.int32", "np.int64", "math.fabs")  # fmt: skip
def _number(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    word = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
    found = constant(given.positions[0]) if given.positions else None
    if found is None or (len(given.positions) > 1 and word != "round"):
        return opened(Unknown("a number"), given.positions) if _begun(given) else None
    functions: dict[str, Callable[[Any], Any]] = {
        "int": int, "float": float, "abs": abs, "round": round, "ceil": math.ceil, "floor": math.floor, "str": str,
        "sqrt": math.sqrt, "log2": math.log2, "log": math.log, "exp": math.exp, "bool": bool,
        "absolute": abs, "fabs": abs, "int32": int, "int64": int,
    }  # fmt: skip
    try:
        return Const(functions[word](found)) if word in functions else None
    except (ValueError, TypeError, OverflowError):
        return Unknown("a number that raises")


def _begun(given: Arguments) -> bool:
    """Whether what a number is made of is not known, and begins somewhere else."""
    return any(isinstance(each, Open) for each in given.positions)


@models("max", "min", "sum", "any", "all", "np.prod", "math.prod", "np.sum")
def _folded(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    word = node.func.attr.value if isinstance(node.func, cst.Attribute) else getattr(node.func, "value", "")
    several = given.positions if len(given.positions) > 1 else None
    known = several if several is not None else items(given.positions[0]) if given.positions else None
    numbers = [constant(each) for each in known or ()]
    if not numbers or not all(isinstance(each, (int, float)) for each in numbers):
        return opened(Unknown("a number"), given.positions) if several is not None and _begun(given) else None
    functions: dict[str, Callable[[Any], Any]] = {
        "max": max, "min": min, "sum": sum, "any": any, "all": all, "prod": math.prod,
    }  # fmt: skip
    return Const(functions[word](numbers)) if word in functions else None


@models("isinstance")
def _isinstance(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    sure = isinstance_of(*given.positions) if len(given.positions) == 2 else None
    return Unknown("a truth value") if sure is None else Const(sure)


@models("callable")
def _callable(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    of = given.get(0)
    if isinstance(of, (Closure, Kind, Bound, Held, Api)):
        return Const(True)
    return Const(False) if isinstance(of, (Const, Listed)) else None


@models("type")
def _type(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    of = given.get(0)
    return of.of if isinstance(of, Object) and of.of is not None else None


@models("getattr", "hasattr")
def _getattr(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    word = node.func.value if isinstance(node.func, cst.Name) else ""
    of, name = given.get(0), constant(given.positions[1]) if len(given.positions) > 1 else None
    if of is None or not isinstance(name, str):
        return Unknown("an attribute")
    found = machine.attribute(of, name)
    if word == "getattr":
        return found
    if isinstance(of, Object) and name in of.fields:
        return Const(True)
    return Unknown("whether there is an attribute")


@models("setattr")
def _setattr(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    if len(given.positions) == 3:
        of, name, value = given.positions
        if isinstance(of, Object) and isinstance(constant(name), str):
            objects.set_attribute(machine, of, str(constant(name)), value)
    return NONE


@models("map", "filter", "tf.nest.map_structure", "tf.map_fn")
def _map(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    word = node.func.value if isinstance(node.func, cst.Name) else ""
    columns = [items(each) for each in given.positions[1:]]
    known = [column for column in columns if column is not None]
    if word != "map" or not known or len(known) < len(columns):
        return Unknown("a mapped iterable") if word in ("map", "filter") else None
    rows = zip(*known, strict=False)
    return Loop(tuple(machine.call(given.positions[0], Arguments(row), node) for row in rows))


@models("next")
def _next(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    of = given.get(0)
    if of is None:
        return None
    known = items(of)
    return known[0] if known else machine.drawn(of, element_of(of))


@models("functools.partial")
def _partial(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    if not given.positions or given.open:
        return Unknown("functools.partial")
    return Held(given.positions[0], given.positions[1:], dict(given.names))


@models("functools.reduce")
def _reduce(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    known = items(given.positions[1]) if len(given.positions) > 1 else None
    if known is None:
        return Unknown("functools.reduce")
    found: Any = given.get(2) or MISSING
    for each in known:
        found = each if found is MISSING else machine.call(given.positions[0], Arguments((found, each)), node)
    return Unknown("reduced") if found is MISSING else found


@models("sys.exit", "exit", "quit", "os._exit")
def _exit(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    return EXITS


@models("copy.copy", "copy.deepcopy")
def _copied(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    of = given.get(0)
    if isinstance(of, Listed):
        return Listed(dict(of.fields))
    return of if isinstance(of, (Const, Sequence, Array)) else None


@models("tf.clip_by_global_norm")
def _clipped(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    """Gradients stay those of their tape, however they are scaled."""
    of = given.get(0, "t_list")
    return Sequence((of, Array("tf", "float32", ()))) if isinstance(of, Gradients) else None


@models("print", "tf.print", "tf.debugging.assert_all_finite", "tf.summary.scalar", "tf.summary.image")
def _none(machine: Machine, given: Arguments, node: cst.Call) -> Value | None:
    return NONE
