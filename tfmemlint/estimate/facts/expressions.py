"""What expressions are: names, displays, operators, attributes, items, comprehensions."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.estimate.facts import calls, catalogue, displays, imported, lacking, objects, operations, origins, texts
from tfmemlint.estimate.facts.known import compared, element_of, plain_sequence, truth
from tfmemlint.estimate.facts.listing import ListMethod
from tfmemlint.estimate.facts.state import uncertain
from tfmemlint.estimate.facts.values import (
    MISSING,
    NONE,
    Closure,
    Env,
    Kind,
    Listed,
    Loop,
    Object,
    Super,
    Traced,
    Variables,
    join,
    opened,
    plain,
)  # fmt: skip
from tfmemlint.model import arguments
from tfmemlint.model.expressions import ELEMENTWISE, EXPRESSIONS
from tfmemlint.model.values import (
    Api,
    Array,
    Const,
    OneOf,
    Sequence,
    Unknown,
    Value,
    constant,
    one_of,
)  # fmt: skip

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine

BUILTINS = frozenset(dir(builtins))
LITERALS = frozenset({cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis})
CONSTANTS = {"True": Const(True), "False": Const(False), "None": NONE}


def value(machine: Machine, node: cst.CSTNode, env: Env) -> Value:
    """What an expression is."""
    kind = node.__class__
    handler = _HANDLERS.get(kind)
    if handler is not None:
        made = handler(machine, node, env)
        return origins.read(machine, node, made) if kind in origins.READ else made
    if kind not in LITERALS:
        return Unknown(f"a {kind.__name__}")
    found = machine.literals.get(id(node))
    if found is None:
        found = machine.literals[id(node)] = _literal(machine, node)
    return found


def _literal(machine: Machine, node: cst.CSTNode) -> Value:
    try:
        return EXPRESSIONS[node.__class__](machine.evaluator, node, None)
    except SyntaxError:  # an escape of Python 2
        return Unknown("a text that cannot be read")


# -- names -----------------------------------------------------------------------------------------------------------


def _name(machine: Machine, node: cst.Name, env: Env) -> Value:
    if node.value in CONSTANTS:
        return CONSTANTS[node.value]
    home = env.home(node.value)
    if home is not None:
        return home.names[node.value]
    if node.value in BUILTINS:
        return Api(f"builtins.{node.value}")
    home_module = machine.file.home(node)
    key = id(home_module), node.value
    if key not in machine.starred:
        machine.starred[key] = machine.evaluator.imports.starred(node.value, home_module)
    starred = machine.starred[key]
    return starred if isinstance(starred, Api) else Unknown(f"{node.value} is not defined")


def _attribute(machine: Machine, node: cst.Attribute, env: Env) -> Value:
    base = machine.value(node.value, env)
    found = origins.of_command_line(machine, node, base, attribute(machine, base, node.attr.value))
    return origins.of_part(machine, node, base, found)


def attribute(machine: Machine, base: Value, name: str) -> Value:
    """`base.name`."""
    if isinstance(base, (Object, Kind, Super)):
        return objects.attribute(machine, base, name)
    if isinstance(base, OneOf):
        return one_of(attribute(machine, each, name) for each in base.options)
    if base in arguments.FLAGS:
        return arguments.flag(machine.evaluator, name)
    if isinstance(base, Api):
        return imported.attribute(machine, base, name)
    if isinstance(base, Listed):
        return ListMethod(base, name)
    if isinstance(base, Traced):
        return operations.attribute(machine, base, name)
    if isinstance(base, Const) and isinstance(base.value, str) and name in texts.METHODS:
        return texts.TextMethod(base.value, name)
    told = catalogue.told(base, name)
    if told is not None:
        return told
    if isinstance(base, Sequence) and base.kind == "tuple" and name in ("shape", "dtype"):
        return Unknown("a tuple")
    found = base.attribute(name)
    return found


# -- operators -------------------------------------------------------------------------------------------------------


def _binary(machine: Machine, node: cst.BinaryOperation, env: Env) -> Value:
    left, right = machine.value(node.left, env), machine.value(node.right, env)
    return binary(machine, type(node.operator).__name__, left, right, node)


def binary(machine: Machine, name: str, left: Value, right: Value, node: cst.CSTNode) -> Value:
    """`left op right`; `name` is libcst's operator class."""
    if isinstance(left, Traced) or isinstance(right, Traced):
        return operations.arithmetic(machine, name, left, right, node)
    if isinstance(left, (Variables, Listed)) and isinstance(right, Variables) and name == "Add":
        before = left.of if isinstance(left, Variables) else ()
        return Variables((*before, *right.of))
    if isinstance(left, Listed) and name in ("Add", "Multiply"):
        made = plain_sequence(left).binary(name, plain_sequence(right))
        return objects.new_list(made) if isinstance(made, Sequence) else made
    return opened(left.binary(name, right), (left, right))


def _unary(machine: Machine, node: cst.UnaryOperation, env: Env) -> Value:
    operand = machine.value(node.expression, env)
    if isinstance(node.operator, cst.Not):
        sure = truth(operand)
        return opened(Unknown("a truth value"), (operand,)) if sure is None else Const(not sure)
    if isinstance(operand, Traced):
        return operations.elementwise(machine, "negative", operand, node)
    return opened(operand.unary(type(node.operator).__name__), (operand,))


def _boolean(machine: Machine, node: cst.BooleanOperation, env: Env) -> Value:
    left = machine.value(node.left, env)
    sure = truth(left)
    if sure is not None:
        return left if sure == isinstance(node.operator, cst.Or) else machine.value(node.right, env)
    right = machine.value(node.right, env)
    known = truth(right)
    if known is isinstance(node.operator, cst.Or):
        return right if isinstance(right, Const) else join(left, right)
    return join(left, right) if left.known and right.known else opened(Unknown("either side"), (left, right))


def _comparison(machine: Machine, node: cst.Comparison, env: Env) -> Value:
    left, result = machine.value(node.left, env), True
    for each in node.comparisons:
        right = machine.value(each.comparator, env)
        found = compared(each.operator, left, right)
        if found is None:
            single = len(node.comparisons) == 1
            made = _elementwise(each.operator, left, right) if single else Unknown("a truth value")
            return opened(made, (left, right))
        result, left = result and found, right
    return Const(result)


def _elementwise(operator: cst.BaseCompOp, left: Value, right: Value) -> Value:
    """`x > 0.5` of an array that is no data of a step: a truth value for each of its numbers."""
    arrays = [each for each in (left, right) if isinstance(each, Array)]
    if arrays and isinstance(operator, ELEMENTWISE) and not any(isinstance(each, Traced) for each in arrays):
        added = left.binary("Add", right)
        if isinstance(added, Array):
            return Array(added.library, "bool", added.shape)
    return Unknown("a truth value")


def _if_expression(machine: Machine, node: cst.IfExp, env: Env) -> Value:
    test = machine.value(node.test, env)
    sure = truth(test)
    if sure is not None:
        return machine.value(node.body if sure else node.orelse, env)
    return uncertain(join(machine.value(node.body, env), machine.value(node.orelse, env)), lacking.of(test))


# -- items -----------------------------------------------------------------------------------------------------------


def _subscript(machine: Machine, node: cst.Subscript, env: Env) -> Value:
    base = machine.value(node.value, env)
    return origins.of_part(machine, node, base, _item(machine, base, node, env))


def _item(machine: Machine, base: Value, node: cst.Subscript, env: Env) -> Value:
    indices = [_index(machine, element.slice, env) for element in node.slice]
    if isinstance(base, Traced):
        return operations.subscript(machine, base, indices, node)
    if isinstance(base, (Listed, Sequence, Loop)):
        inside = plain_sequence(base)
        if len(indices) == 1 and isinstance(indices[0], slice):
            part = inside.sliced(indices[0])
            return objects.new_list(part) if isinstance(part, Sequence) and part.kind == "list" else part
        if len(indices) == 1 and isinstance(indices[0], Value):
            return item_at(machine, inside, indices[0])
    if isinstance(base, Object) and len(indices) == 1 and isinstance(indices[0], Value):
        return calls.item_of(machine, base, indices[0], node)
    return base.subscript([plain(each) if isinstance(each, Value) else each for each in indices])


def _index(machine: Machine, index: cst.BaseSlice, env: Env) -> Value | slice:
    if isinstance(index, cst.Index):
        return machine.value(index.value, env)
    assert isinstance(index, cst.Slice)
    bounds = [machine.value(n, env) if n is not None else NONE for n in (index.lower, index.upper, index.step)]
    return slice(*bounds)


def index(machine: Machine, node: cst.Subscript, env: Env) -> Value:
    """The one index of a subscript that is written to."""
    found = _index(machine, node.slice[0].slice, env) if len(node.slice) == 1 else None
    return found if isinstance(found, Value) else Unknown("a slice")


def item_at(machine: Machine, base: Value, at: Value) -> Value:
    """`base[at]` of a list, tuple, dictionary or tensor."""
    base = plain_sequence(base)
    if isinstance(base, Traced):
        return operations.subscript(machine, base, [at], None)
    if isinstance(base, Sequence):
        place = constant(at)
        if isinstance(place, int) and not base.open:
            return base.items[place] if -len(base.items) <= place < len(base.items) else Unknown("no such item")
        found: Any = MISSING
        for each in base.items:
            found = join(found, each)
        return Unknown("an item") if found is MISSING or base.open else found
    return base.item_at(at)


def _call(machine: Machine, node: cst.Call, env: Env) -> Value:
    return calls.follow(machine, node, env)


def _walrus(machine: Machine, node: cst.NamedExpr, env: Env) -> Value:
    found = machine.value(node.value, env)
    if isinstance(node.target, cst.Name):
        machine.put(env.names, node.target.value, found)
    return found


def _lambda(machine: Machine, node: cst.Lambda, env: Env) -> Value:
    return Closure(node, env=env)


def _yield(machine: Machine, node: cst.Yield, env: Env) -> Value:
    value = node.value
    found = machine.value(value.item if isinstance(value, cst.From) else value, env) if value is not None else NONE
    if machine.yields:
        machine.yields[-1].append(element_of(found) if isinstance(value, cst.From) else found)
    return NONE


def _formatted(machine: Machine, node: cst.FormattedString, env: Env) -> Value:
    text = ""
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            text += part.value.replace("{{", "{").replace("}}", "}")
            continue
        found = machine.value(part.expression, env) if isinstance(part, cst.FormattedStringExpression) else NONE
        if not isinstance(found, Const) or getattr(part, "format_spec", None) is not None:
            return Unknown("a formatted string")
        text += str(found.value)
    return Const(text)


_HANDLERS: dict[type, Callable[[Machine, Any, Env], Value]] = {
    cst.Name: _name, cst.Attribute: _attribute, cst.Call: _call, cst.Subscript: _subscript,
    cst.BinaryOperation: _binary, cst.UnaryOperation: _unary, cst.BooleanOperation: _boolean,
    cst.Comparison: _comparison, cst.IfExp: _if_expression, cst.Dict: displays.dictionary,
    **dict.fromkeys((cst.Tuple, cst.List, cst.Set), displays.display),
    **dict.fromkeys((cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp), displays.comprehension),
    cst.NamedExpr: _walrus, cst.Lambda: _lambda,
    cst.FormattedString: _formatted, cst.Yield: _yield,
}  # fmt: skip
