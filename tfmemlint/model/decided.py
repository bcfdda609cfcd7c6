"""Which branches of a function a call decides: `if size is not None`, where the call passes a size, and
`if self.training`, where the object was made with that."""

from __future__ import annotations

from collections import abc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.constructed import receiver
from tfmemlint.model.kinds import is_instance
from tfmemlint.model.values import Api, Class, Const, Function, Instance, Sequence, Value
from tfmemlint.syntax.scopes import Binds, Definition, ScopeNode, dotted, parameters, written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame
    from tfmemlint.syntax.tree import Node

OBJECTS = ("tf.keras.layers.Layer", "tf.keras.optimizers.Optimizer", "tf.keras.losses.Loss")
"""Classes whose objects always count as true."""

_PLAIN = frozenset((cst.Name, cst.Attribute))

IS_INSTANCE = Api("builtins.isinstance")

MOST_CALLERS = 6
"""Calls of a function whose arguments are looked at; of one with more nothing is known."""


def certain(evaluator: Evaluator, test: cst.BaseExpression, frame: Frame) -> bool | None:
    """What a condition is in one activation of a function, by the parameters that it asks; None where they leave it
    open."""
    if test.__class__ in _PLAIN:
        return _agreed(_is_true(each) for each in _passed(evaluator, test, frame))
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        inner = certain(evaluator, test.expression, frame)
        return None if inner is None else not inner
    if isinstance(test, cst.BooleanOperation):
        sides = certain(evaluator, test.left, frame), certain(evaluator, test.right, frame)
        ends = isinstance(test.operator, cst.Or)
        return ends if ends in sides else None if None in sides else not ends
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1:
        return _compared(evaluator, test.left, test.comparisons[0], frame)
    if isinstance(test, cst.Call) and len(test.args) == 2 and evaluator.value(test.func, None) == IS_INSTANCE:
        kinds = evaluator.value(test.args[1].value, None)
        return _agreed(is_instance(each, kinds) for each in _passed(evaluator, test.args[0].value, frame))
    return _agreed(_is_true(each) for each in _passed(evaluator, test, frame))


def _compared(evaluator: Evaluator, left: cst.BaseExpression, right: cst.ComparisonTarget, frame: Frame) -> bool | None:
    with_ = evaluator.value(right.comparator, None)
    negated = isinstance(right.operator, (cst.IsNot, cst.NotEqual, cst.NotIn))
    if isinstance(right.operator, (cst.In, cst.NotIn)):
        found = _agreed(_is_among(each, with_) for each in _passed(evaluator, left, frame))
    elif isinstance(right.operator, (cst.Is, cst.Equal, cst.IsNot, cst.NotEqual)):
        found = _agreed(_is_same(each, with_) for each in _passed(evaluator, left, frame))
    else:
        return None
    return found if found is None or not negated else not found


def _agreed(answers: Iterator[bool | None]) -> bool | None:
    """What all alternatives say; None where they differ, some say nothing or there are none."""
    found = set(answers)
    return found.pop() if len(found) == 1 else None


def _is_same(value: Value, other: Value) -> bool | None:
    """Whether a value is the same as a constant; one that is no constant is at least not None."""
    if not isinstance(other, Const) or (other.value is not None and not isinstance(value, Const)):
        return None
    return value == other


def _is_among(value: Value, several: Value) -> bool | None:
    """Whether a constant is one of several others, all of which are known."""
    if not isinstance(value, Const) or not isinstance(several, Sequence) or several.open:
        return None
    return value in several.items if all(isinstance(item, Const) for item in several.items) else None


def _passed(evaluator: Evaluator, asked: cst.BaseExpression, frame: Frame) -> tuple[Value, ...]:
    """What an expression can be in an activation, if it is a parameter that nothing binds anew, or what the object was
    made with."""
    value = None
    if isinstance(asked, cst.Name):
        found = written(evaluator.file.flow(frame.function).uses.get(id(asked)) or ())
        if len(found) == 1 and found[0].binds is Binds.PARAMETER:
            value = evaluator.definition(found[0], frame)
    elif isinstance(asked, cst.Attribute) and isinstance(frame.receiver, Instance):
        method = frame.function
        later = isinstance(method, cst.FunctionDef) and method.name.value != "__init__"  # which may yet set it
        if isinstance(method, cst.FunctionDef) and later and dotted(asked.value) == receiver(method):
            value = evaluator.classes.made_with(frame.receiver, asked.attr.value)
    return value.options if value is not None and value.known else ()


def _is_true(value: Value) -> bool | None:
    if isinstance(value, Const):
        return bool(value.value)
    return True if isinstance(value, (Class, Function)) or _is_object(value) else None


def _is_object(value: Value) -> bool:
    """Whether a value is a layer, a model or an optimizer: no container and no tensor, which may count as false."""
    api = value.type_name if isinstance(value, Instance) else None
    return api is not None and any(base in OBJECTS for base in (api, *knowledge.bases(api)))


def runs(evaluator: Evaluator, node: Node, frame: Frame) -> bool:
    """Whether an activation of a function may come to code of it: False where what is passed decides otherwise."""
    asked = evaluator.needed.decidable(node, frame.function)
    return all(certain(evaluator, test, frame) is not (not holds) for test, holds, _ in asked)


def coming(evaluator: Evaluator, node: Node, function: ScopeNode) -> list[Frame] | None:
    """The activations of a function that may come to code of it, where some of those that are seen do not; none of
    them left, that of somebody whom nobody sees. None where what they pass keeps none from it."""
    if not isinstance(function, cst.FunctionDef):
        return None
    if evaluator.needed.parameters(function).isdisjoint(evaluator.needed.deciding(node)):
        return None  # and who calls need not be asked
    callers = evaluator.call_graph.callers(function)
    elsewhere = evaluator.call_graph.callers_elsewhere(function) if callers is not None else ()
    callers = (*(callers or ()), *elsewhere) if elsewhere is not None else None
    if callers is None or len(callers) > MOST_CALLERS:
        return None
    found = [activations(evaluator, call, function) for call in callers]
    frames = [frame for each in found for frame in each]
    kept = [frame for frame in frames if runs(evaluator, node, frame)]
    if len(kept) == len(frames) or not all(found):
        return None
    return kept or [evaluator.functions.unseen(function, callers[0])]


def is_passed_by(evaluator: Evaluator, node: Node) -> bool:
    """Whether all calls of a node's function pass what keeps them from coming to it, or all objects that the function
    is a method of were made with that. False where no call, or no such object, is seen."""
    function = evaluator.file.contexts.function(node)
    if not isinstance(function, cst.FunctionDef):
        return False
    return _is_unseen(coming(evaluator, node, function)) or _is_of_no_object(evaluator, node, function)


def _is_of_no_object(evaluator: Evaluator, node: Node, method: cst.FunctionDef) -> bool:
    owner = evaluator.file.class_of(method)
    init = evaluator.classes.method(owner, "__init__") if owner is not None else None
    making = (evaluator.call_graph.callers(init) if init is not None else None) or ()
    if owner is None or len(making) > MOST_CALLERS:
        return False
    given = {each.name.value for each in parameters(method)} - {receiver(method)}
    tests = [(test, holds) for test, holds, _ in evaluator.needed.of(node) if not given & evaluator.needed.named(test)]
    objects = [evaluator.classes.instance(owner, call) for call in making]
    frames = [evaluator.functions.unseen(method, call, made) for call, made in zip(making, objects, strict=True)]
    kept = [any(certain(evaluator, test, each) is (not holds) for test, holds in tests) for each in frames]
    return bool(kept) and all(kept)


def _is_unseen(frames: list[Frame] | None) -> bool:
    return frames is not None and frames[0].unseen


def reached(evaluator: Evaluator, chain: abc.Sequence[Node]) -> bool:
    """Whether a call may come to some code through others: `chain` begins with the code, then has the call of its
    function, the call of the function in which that stands, and so on outwards."""
    around: Frame | None = None
    for call, inner in zip(reversed(chain[1:]), reversed(chain[:-1]), strict=True):
        made = evaluator.call(call, around) if isinstance(call, cst.Call) else None
        found = activations(evaluator, made, evaluator.file.contexts.function(inner)) if made is not None else []
        if found and not any(runs(evaluator, inner, frame) for frame in found):
            return False
        around = found[0] if len(found) == 1 else None
    return True


def activations(evaluator: Evaluator, call: Call, function: ScopeNode | None) -> list[Frame]:
    """The activations of a function that a call makes: one for each object that the method may belong to; empty where
    the call is not seen to run the function."""
    targets: list[Function] = []
    for target in call.target.options:
        if isinstance(target, Function) and target.node is function:
            targets.append(target)
        elif isinstance(target, Class) and isinstance(function, cst.FunctionDef):
            made = evaluator.classes.instance(target.node, call)
            if evaluator.classes.method(target.node, "__init__") is function:
                targets.append(Function(function, receiver=made))
    frames = [evaluator.functions.frame(target, call) for target in targets]
    return [] if None in frames else [frame for frame in frames if frame is not None]


def reaching(
    evaluator: Evaluator, use: Node | None, found: abc.Sequence[Definition], frame: Frame | None
) -> list[Definition]:
    """Those of some definitions of a name that reach a use of it, or the function's end, in one activation: neither in
    branches that it does not take, nor before one that it certainly takes and that binds the name anew. Without an
    activation, those that some call comes to."""
    if frame is None:
        return [d for d in found if not _is_unseen(coming(evaluator, d.node, d.scope))] or list(found)
    tree = evaluator.file.tree
    kept = [each for each in found if runs(evaluator, each.node, frame)]
    for each in kept:
        around = _taken_before(evaluator, each, use, frame)
        if around is not None:
            kept = [other for other in kept if other is each or tree.order(other.node) > tree.order(around)]
    return kept or list(found)


def _taken_before(evaluator: Evaluator, d: Definition, use: Node | None, frame: Frame) -> cst.If | None:
    """The outermost `if` around a definition that every way to a use passes before, into the branch that binds it."""
    tree = evaluator.file.tree
    statement: Node = tree.statement(d.node)
    for branch, first in _branches(evaluator, d.node):
        other = branch.orelse.body if isinstance(branch.orelse, cst.Else) else None
        if tree.parent(statement) not in (branch.body, other) and statement is not branch.orelse:
            return None
        if certain(evaluator, branch.test, frame) is not first:
            return None
        statement, block = branch, tree.parent(branch)
        if use is None and tree.parent(statement) is frame.function.body:
            return branch
        if use is not None and block is not None and not isinstance(block, cst.If) and tree.contains(block, use):
            return branch if tree.order(use) > tree.last(branch) else None
    return None


_ENDS = frozenset((cst.FunctionDef, cst.Lambda, cst.Module))


def _branches(evaluator: Evaluator, node: Node) -> Iterator[tuple[cst.If, bool]]:
    """The `if` statements of a function around a node, innermost first, each with whether it stands in what runs where
    the condition is true."""
    tree = evaluator.file.tree
    inner, outer = node, tree.parent(node)
    while outer is not None and outer.__class__ not in _ENDS:
        if type(outer) is cst.If and inner is not outer.test:
            yield outer, inner is outer.body
        inner, outer = outer, tree.parent(outer)
