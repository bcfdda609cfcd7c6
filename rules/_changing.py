"""Which Python values change from one iteration of a loop to the next."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._growing import Rounds, grows
from tfmemlint_rules._python_items import items_change
from tfmemlint_rules._python_numbers import COMBINES, CONVERTS, draws, is_python, random_numbers, starts_python

from tfmemlint.api import Binds, Call, Const, Definition, File, Function, Node, Sequence, is_variable, walk, written

STRING_METHODS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "replace", "format", "title"})
DEPTH = 2
"""Calls of functions of the module that are followed, inwards and outwards."""


def changing_python_value(expression: cst.BaseExpression, file: File) -> bool:
    """Whether an expression is certainly a Python number, string or list that differs between the iterations of a
    loop around it, or around the calls of its function."""
    return _Changing(file).changes(expression)


class _Changing:
    def __init__(self, file: File) -> None:
        self._file = file
        self._entered: list[Call] = []
        """The calls whose functions are being looked into."""
        self._left = 0

    def changes(self, node: cst.BaseExpression) -> bool:
        file = self._file
        if isinstance(node, (cst.Name, cst.Attribute)):
            definitions = written(file.definitions(node))
            rounds = Rounds.around(node, file)
            return any(self._definition(d, rounds) for d in definitions) or grows(node, rounds, file)
        if isinstance(node, cst.Subscript):
            return self._element(node)
        if isinstance(node, cst.Call):
            return self._call(node)
        if isinstance(node, cst.FormattedString):
            return any(self.changes(n) for n in _names([node], file))
        if isinstance(node, (cst.List, cst.Tuple)):
            return any(self.changes(e.value) for e in node.elements)
        if isinstance(node, cst.ListComp):
            names = _names([node.for_in.iter], file)
            return is_python(node.elt, self._file) and any(self._bound_in_round(n) or self.changes(n) for n in names)
        if isinstance(node, cst.Dict):
            return any(isinstance(e, cst.DictElement) and self.changes(e.value) for e in node.elements)
        parts = _operands(node)
        return any(self.changes(p) for p in parts) and self._all_python(parts)

    def _all_python(self, parts: list[cst.BaseExpression]) -> bool:
        return all(self.changes(p) or is_python(p, self._file) for p in parts)

    def _element(self, node: cst.Subscript) -> bool:
        """`rates[epoch]` of a list of different numbers."""
        values = self._file.value(node.value)
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if not isinstance(index, cst.Index):
            return False
        made = self._file.written(node.value)
        if isinstance(made, cst.ListComp) and not isinstance(index.value, cst.Integer):
            return self.changes(index.value) and self._items(made)
        if not isinstance(values, Sequence) or values.open:
            return False
        numbers = {i.value for i in values.items if isinstance(i, Const) and isinstance(i.value, (int, float, str))}
        return len(numbers) > 3 and len(values.items) >= len(numbers) and self.changes(index.value)

    def _items(self, made: cst.ListComp | cst.GeneratorExp) -> bool:
        """Whether a comprehension has another Python number or string for each of its items."""
        return self.changes(made.elt)

    def _call(self, node: cst.Call) -> bool:
        call = self._file.call(node)
        given = [arg.value for arg in node.args]
        if draws(call):
            return Rounds.around(node, self._file).any or bool(self._entered)
        if call.name in COMBINES or (call.name or "").startswith("math."):
            return any(self.changes(p) for p in given) and self._all_python(given)
        if call.name in CONVERTS:
            if self._drawn(given[:1]):
                return Rounds.around(node, self._file).any or bool(self._entered)
            return any(self._bound_in_round(n) or self.changes(n) for n in _names(given[:1], self._file))
        if call.name == "os.path.join":
            return any(self.changes(p) for p in given)
        if isinstance(node.func, cst.Attribute) and call.method == "item":
            if self._drawn([node.func.value]):
                return Rounds.around(node, self._file).any or bool(self._entered)
            return any(self._bound_in_round(n) for n in _names([node.func.value], self._file))
        if isinstance(node.func, cst.Attribute) and call.method in STRING_METHODS and not call.names:
            if isinstance(self._file.value(node.func.value), Const):
                return any(self.changes(p) for p in given)
            return self.changes(node.func.value)
        return self._returned(call)

    def _drawn(self, expressions: list[cst.BaseExpression]) -> bool:
        """Whether an expression draws random numbers, as a NumPy scalar or array, too."""
        calls = (n for e in expressions for n in walk(e, cst.Call))
        return any(draws(call) or random_numbers(call) for call in map(self._file.call, calls))

    def _returned(self, call: Call) -> bool:
        """Whether a function of the module computes a Python number from arguments that change."""
        target = call.target
        if not isinstance(target, Function) or target.traced or call.open or len(self._entered) >= DEPTH:
            return False
        function = target.node
        if any(c is call for c in self._entered):
            return False
        if isinstance(function, cst.Lambda):
            results = [function.body]
        else:
            results = [r.value for r in self._file.returns(function) if r.value is not None]
        self._entered.append(call)
        found = bool(results) and any(self.changes(r) for r in results) and self._all_python(results)
        self._entered.pop()
        return found

    def _definition(self, d: Definition, rounds: Rounds) -> bool:
        if d.binds is Binds.PARAMETER:
            return self._parameter(d)
        around = rounds.holding(d.node)
        inside = bool(self._entered) and self._looked_into() is d.scope
        if not around and not inside:
            return False
        if d.binds is Binds.ITEM:
            item = rounds.binding(d.node)
            few = item is None or rounds.few([item], self._file)
            path = tuple(index for index in d.path if isinstance(index, int))
            if few or len(path) < len(d.path) or not isinstance(d.value, cst.BaseExpression):
                return False
            return items_change(d.value, path, self._file, self._items)
        if rounds.few(around, self._file):
            return False
        if d.binds is Binds.AUGMENTED and isinstance(d.value, cst.AugAssign):
            step = d.value.value
            return (is_python(step, self._file) or self.changes(step)) and starts_python(d, self._file)
        if d.binds is Binds.VALUE and not d.path and isinstance(d.value, cst.BaseExpression):
            if any(n.value == d.name for n in _names([d.value], self._file)):
                return starts_python(d, self._file) and self._counts(d.value, d.name)
            return self.changes(d.value)
        return False

    def _looked_into(self) -> Node | None:
        target = self._entered[-1].target
        return target.node if isinstance(target, Function) else None

    def _parameter(self, d: Definition) -> bool:
        """Whether the call that is looked into, or else one of the function's callers, passes a changing value."""
        if self._entered:
            inside = self._looked_into() is d.scope
            call = self._entered.pop()
            argument = call.arg(d.name) if inside else None
            found = argument is not None and self.changes(argument.expression)
            self._entered.append(call)
            return found
        if self._left >= DEPTH:
            return False
        self._left += 1
        arguments = [call.arg(d.name) for call in self._file.values.functions.callers(d.scope) or ()]
        found = any(a is not None and self.changes(a.expression) for a in arguments)
        self._left -= 1
        return found

    def _counts(self, value: cst.BaseExpression, name: str) -> bool:
        """Whether a value is made of its own old value and Python numbers: `n + 1`, `max(low, n * decay)`."""
        if isinstance(value, cst.Name) and value.value == name:
            return True
        parts = _operands(value)
        if isinstance(value, cst.Call) and self._file.call(value).name in COMBINES:
            parts = [arg.value for arg in value.args]
        reads = [p for p in parts if any(n.value == name for n in _names([p], self._file))]
        rest = [p for p in parts if p not in reads]
        return bool(reads) and all(self._counts(r, name) for r in reads) and self._all_python(rest)

    def _bound_in_round(self, name: cst.Name) -> bool:
        definitions = written(self._file.definitions(name))
        rounds = Rounds.around(name, self._file)
        return any(rounds.holding(d.node) for d in definitions)


def _operands(node: Node) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
        return [node.expression]
    return [node.body, node.orelse] if isinstance(node, cst.IfExp) else []


def _names(expressions: list[cst.BaseExpression], file: File) -> Iterator[cst.Name]:
    for expression in expressions:
        yield from (n for n in walk(expression, cst.Name) if is_variable(n, file))
