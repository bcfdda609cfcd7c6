"""Which Python values are certainly another one in each iteration of a loop."""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, Function, Sequence
from tfmemlint.query.limits import FEW_RUNS, FOLLOWED_CALLS
from tfmemlint.query.repetition.changing_items import items_differ
from tfmemlint.query.repetition.growing import grows
from tfmemlint.query.repetition.repeats import Repetition, repetitions
from tfmemlint.query.tracing.python_values import draws_anything, draws_number, is_python, starts_python
from tfmemlint.syntax.names import is_variable
from tfmemlint.syntax.scopes import Binds, Definition, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

STRING_METHODS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "replace", "format", "title"})


def differs(file: File, expression: cst.BaseExpression) -> bool:
    """Whether an expression is certainly a Python number, string, list or dictionary that is another one, or holds
    others, in each iteration of a loop around it, or around the calls of its function.

    False also where it is not known: where it may be a tensor, where all it is made of may be the same again, and in
    loops of at most `FEW_RUNS` iterations. Functions of the module are followed `FOLLOWED_CALLS` deep, inwards and
    outwards.
    """
    return _Differing(file).differs(expression)


def made_anew(file: File, expression: cst.BaseExpression) -> Node | None:
    """What certainly makes the object that an expression stands for anew in each iteration of a loop around it: the
    expression itself, or the `def` or the expression behind the name that it is.

    None where no loop does so, where the loops have at most `FEW_RUNS` iterations, and where it is not known. An
    expression may still give the same object each time: that is for the caller to say.
    """
    loops = around(file, expression)
    if not isinstance(expression, cst.Name):
        return expression if loops and not few(loops) else None
    d = file.only_definition(expression)
    holding = [loop for loop in loops if d is not None and file.tree.contains(loop.place, d.node)]
    if d is None or not holding or d.path or few(holding) or d.binds not in (Binds.FUNCTION, Binds.VALUE):
        return None
    return d.value if d.binds is Binds.VALUE else d.node


def changes_with(file: File, expression: cst.BaseExpression, owner: cst.BaseExpression) -> bool:
    """Whether an expression is another one no more often than the object that a name stands for is made anew: nothing
    that it is made of is bound in a loop inside the one which makes the object. False where no loop makes it."""
    d = file.only_definition(owner) if isinstance(owner, cst.Name) else None
    making = [loop.place for loop in around(file, d.node)] if d is not None else []
    if not making or not file.tree.contains(making[0], expression):
        return False
    within = [loop.place for loop in around(file, expression) if loop.place is not making[0]]
    inside = [place for place in within if file.tree.contains(making[0], place)]
    bound = [each.node for name in _names(file, [expression]) for each in written(file.definitions(name))]
    made = [] if isinstance(expression, (cst.Name, cst.BinaryOperation)) else [expression]
    return not any(file.tree.contains(place, node) for place in inside for node in (*bound, *made))


def around(file: File, node: Node) -> list[Repetition]:
    """What runs an expression again in its own function, innermost first."""
    return list(repetitions(file, node, calls=0))


def few(loops: Several[Repetition]) -> bool:
    """Whether all of some loops are known to have at most `FEW_RUNS` iterations; not where there are none."""
    return bool(loops) and all(loop.few(FEW_RUNS) for loop in loops)


class _Differing:
    """One question: where it stands, which calls have been followed."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._entered: list[Call] = []
        """The calls whose functions are being looked into."""
        self._left = 0
        """Functions that were left for their callers."""

    def differs(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, (cst.Name, cst.Attribute)):
            return self._named(node)
        if isinstance(node, cst.Subscript):
            return self._item(node)
        if isinstance(node, cst.Call):
            return self._call(node)
        if isinstance(node, cst.FormattedString):
            return any(map(self.differs, _names(self._file, [node])))
        if isinstance(node, (cst.List, cst.Tuple)):
            return any(self.differs(element.value) for element in node.elements)
        if isinstance(node, cst.ListComp):
            return is_python(self._file, node.elt) and self._bound_or_differs([node.for_in.iter])
        if isinstance(node, cst.Dict):
            return any(isinstance(e, cst.DictElement) and self.differs(e.value) for e in node.elements)
        return self._combined(_operands(node))

    def _combined(self, parts: Several[cst.BaseExpression]) -> bool:
        """Whether what is made of Python numbers alone is made of one that differs."""
        return any(map(self.differs, parts)) and self._all_python(parts)

    def _all_python(self, parts: Several[cst.BaseExpression]) -> bool:
        return all(self.differs(part) or is_python(self._file, part) for part in parts)

    # -- names -------------------------------------------------------------------------------------------------------

    def _named(self, node: cst.Name | cst.Attribute) -> bool:
        loops = around(self._file, node)
        definitions = written(self._file.definitions(node))
        return any(self._defined(d, loops) for d in definitions) or grows(self._file, node, self._no_tensor)

    def _no_tensor(self, item: cst.BaseExpression) -> bool:
        """Whether an item of a list is Python's: lists of tensors are structures, whose tensors are arguments."""
        return is_python(self._file, item) or self.differs(item)

    def _defined(self, d: Definition, loops: Several[Repetition]) -> bool:
        if d.binds is Binds.PARAMETER:
            return self._passed(d)
        holding = [loop for loop in loops if self._file.tree.contains(loop.place, d.node)]
        if not holding and not (self._entered and self._entered_function() is d.scope):
            return False
        if d.binds is Binds.ITEM:
            return self._item_of(d, holding)
        if few(holding):
            return False
        if d.binds is Binds.AUGMENTED and isinstance(d.value, cst.AugAssign):
            step = d.value.value
            return (is_python(self._file, step) or self.differs(step)) and starts_python(self._file, d)
        if d.binds is not Binds.VALUE or d.path or not isinstance(d.value, cst.BaseExpression):
            return False
        if any(name.value == d.name for name in _names(self._file, [d.value])):
            return starts_python(self._file, d) and self._counts(d.value, d.name)
        return self.differs(d.value)

    def _item_of(self, d: Definition, loops: Several[Repetition]) -> bool:
        """Whether a loop variable is another Python number or string each time."""
        loop = next((loop for loop in loops if _binds(self._file, loop, d.node)), None)
        path = tuple(index for index in d.path if isinstance(index, int))
        if loop is None or few([loop]) or len(path) < len(d.path) or not isinstance(d.value, cst.BaseExpression):
            return False
        return items_differ(self._file, d.value, path, lambda made: self.differs(made.elt))

    def _passed(self, d: Definition) -> bool:
        """Whether the call that is looked into, or else one of the function's callers, passes a value that differs."""
        if self._entered:
            inside = self._entered_function() is d.scope
            call = self._entered.pop()
            argument = call.arg(d.name) if inside else None
            found = argument is not None and self.differs(argument.expression)
            self._entered.append(call)
            return found
        if self._left >= FOLLOWED_CALLS:
            return False
        self._left += 1
        arguments = [call.arg(d.name) for call in self._file.call_graph.callers(d.scope) or ()]
        found = any(argument is not None and self.differs(argument.expression) for argument in arguments)
        self._left -= 1
        return found

    def _counts(self, value: cst.BaseExpression, name: str) -> bool:
        """Whether a value is made of its own old value and Python numbers: `n + 1`, `max(low, n * decay)`."""
        if isinstance(value, cst.Name) and value.value == name:
            return True
        parts = _operands(value)
        if isinstance(value, cst.Call) and knowledge.in_group(self._file.call(value).name, "stays_python"):
            parts = [arg.value for arg in value.args]
        reads = [part for part in parts if any(n.value == name for n in _names(self._file, [part]))]
        rest = [part for part in parts if part not in reads]
        return bool(reads) and all(self._counts(each, name) for each in reads) and self._all_python(rest)

    # -- items and calls ---------------------------------------------------------------------------------------------

    def _item(self, node: cst.Subscript) -> bool:
        """`rates[epoch]` of a list of different numbers."""
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if not isinstance(index, cst.Index):
            return False
        made, values = self._file.written(node.value), self._file.value(node.value)
        if isinstance(made, cst.ListComp) and not isinstance(index.value, cst.Integer):
            return self.differs(index.value) and self.differs(made.elt)
        if not isinstance(values, Sequence) or values.open:
            return False
        numbers = {i.value for i in values.items if isinstance(i, Const) and isinstance(i.value, (int, float, str))}
        return len(numbers) > FEW_RUNS and self.differs(index.value)

    def _call(self, node: cst.Call) -> bool:
        call, given = self._file.call(node), [arg.value for arg in node.args]
        if draws_number(self._file, call):
            return self._again(node)
        if knowledge.in_group(call.name, "stays_python"):
            return self._combined(given)
        if knowledge.in_group(call.name, "gives_python"):
            return self._again(node) if self._drawn(given[:1]) else self._bound_or_differs(given[:1])
        if call.name == "os.path.join":
            return any(map(self.differs, given))
        if call.receiver_node is not None and call.method == "item":
            if self._drawn([call.receiver_node]):
                return self._again(node)
            return any(map(self._bound_again, _names(self._file, [call.receiver_node])))
        if call.receiver_node is not None and call.method in STRING_METHODS and not call.names:
            template = isinstance(self._file.value(call.receiver_node), Const)
            return any(map(self.differs, given)) if template else self.differs(call.receiver_node)
        return self._returned(call)

    def _again(self, node: Node) -> bool:
        """Whether a place is run again: in a loop, or in a function whose call is looked into."""
        return bool(around(self._file, node) or self._entered)

    def _drawn(self, expressions: Several[cst.BaseExpression]) -> bool:
        """Whether an expression draws random numbers, as a NumPy scalar or array, too."""
        calls = (self._file.call(node) for each in expressions for node in walk(each, cst.Call))
        return any(draws_number(self._file, call) or draws_anything(self._file, call) for call in calls)

    def _returned(self, call: Call) -> bool:
        """Whether a function of the module computes a Python number from arguments that differ."""
        target = call.target
        if not isinstance(target, Function) or target.traced or call.open or len(self._entered) >= FOLLOWED_CALLS:
            return False
        if any(entered is call for entered in self._entered):
            return False
        function = target.node
        returns = [] if isinstance(function, cst.Lambda) else self._file.returns(function)
        results = [r.value for r in returns if r.value is not None]
        if isinstance(function, cst.Lambda):
            results = [function.body]
        self._entered.append(call)
        found = self._combined(results)
        self._entered.pop()
        return found

    def _entered_function(self) -> Node | None:
        target = self._entered[-1].target
        return target.node if isinstance(target, Function) else None

    def _bound_or_differs(self, expressions: Several[cst.BaseExpression]) -> bool:
        return any(self._bound_again(name) or self.differs(name) for name in _names(self._file, expressions))

    def _bound_again(self, name: cst.Name) -> bool:
        """Whether a loop around a name binds it."""
        definitions, loops = written(self._file.definitions(name)), around(self._file, name)
        return any(self._file.tree.contains(loop.place, d.node) for loop in loops for d in definitions)


def _binds(file: File, loop: Repetition, target: Node) -> bool:
    """Whether a loop or comprehension binds this target to each of its items."""
    place = loop.place
    made = [place] if isinstance(place, cst.For) else []
    inner = walk(place.for_in, cst.CompFor) if isinstance(place, cst.BaseComp) else ()
    return any(file.tree.contains(each.target, target) for each in (*made, *inner))


def _operands(node: Node) -> list[cst.BaseExpression]:
    if isinstance(node, cst.BinaryOperation):
        return [node.left, node.right]
    if isinstance(node, cst.UnaryOperation) and not isinstance(node.operator, cst.Not):
        return [node.expression]
    return [node.body, node.orelse] if isinstance(node, cst.IfExp) else []


def _names(file: File, expressions: Several[cst.BaseExpression]) -> list[cst.Name]:
    return [name for each in expressions for name in walk(each, cst.Name) if is_variable(file, name)]
