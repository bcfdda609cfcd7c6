"""Whether code that stands where it could run again and again does so only once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Const, Function, integer
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.query.repetition.servers import handles_requests
from tfmemlint.syntax.names import variables
from tfmemlint.syntax.scopes import Definition, parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.query.repetition.repeats import Repetition

PLAIN_DECORATORS = frozenset({"staticmethod", "classmethod", "property", "abstractmethod"})
"""Decorators that certainly do not remember what a function returned; others may."""


def runs_once(file: File, node: Node, within: Node) -> bool:
    """Whether code in a loop or function stands where it runs at most once, however often that runs: behind a
    condition that holds the first time only (`if model is None`, `if step == 0`), in one iteration (`if i == n - 1`) or
    in those that a list names, in a branch that ends the loop, where an attempt failed, or in a function whose
    decorator may remember its result (not one that a server calls).

    False where nothing says so; a condition that just holds seldom (`if step % 100 == 0`) is none.
    """
    loop = isinstance(within, (cst.For, cst.While))
    if isinstance(within, cst.FunctionDef) and any(_may_remember(file, each) for each in within.decorators):
        if not handles_requests(file, within):
            return True
    below = node
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, cst.ExceptHandler):
            return True
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            holds = below is above.body
            if holds_first(file, above.test, within, holds) or (loop and holds and _leaves(above.body)):
                return True
            if holds and isinstance(within, (cst.For, cst.While)) and _counted_to(file, above.test, within):
                return True
        below = above
    return False


def asks_function_of_step(file: File, node: Node, loop: Node) -> bool:
    """Whether code in a loop stands behind a condition that a function of the module answers of nothing but the number
    of the iteration, `if restarts(step):`: it chooses some steps."""
    if not isinstance(loop, (cst.For, cst.While)):
        return False
    for found in conditions(file, node, loop):
        test = found.test if isinstance(found, cst.If) else None
        if isinstance(test, cst.Call) and test.args and isinstance(file.call(test).target, Function):
            named = [arg.value.value if isinstance(arg.value, cst.Name) else "" for arg in test.args]
            if all(_counts(file, name, loop) for name in named):
                return True
    return False


def in_script(file: File, node: Node) -> bool:
    """Whether code certainly is what a program does from beginning to end: it stands in the module, or in a function
    without parameters that is called from one place and in no loop, as `main()`. Loops around it are not looked at."""
    function = file.contexts.function(node)
    if not isinstance(function, cst.FunctionDef):
        return function is None
    return not any(parameters(function)) and file.call_graph.once(function)


def runs_always(file: File, found: Repetition) -> bool:
    """Whether each iteration certainly runs the code that was asked about: on the way to it stand no conditions, no
    attempt that is left when it works, and no functions that may remember their result or make an object.

    In what handles requests a condition asks about the request, and is there to hold again.
    """
    for node, place in found.levels:
        last = place is found.place
        if not last and (not isinstance(place, cst.FunctionDef) or place.decorators or place.name.value == "__init__"):
            return False
        if runs_once(file, node, place) or (not (last and found.handler) and _sometimes(file, node, place)):
            return False
    return True


def _sometimes(file: File, node: Node, within: Node) -> bool:
    """Whether code stands in a branch, or in a `try` that is left when it works."""
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, cst.If):
            return True
        if isinstance(above, cst.Try) and next(walk(above.body, cst.Break, cst.Return), None) is not None:
            return True
    return False


def holds_first(file: File, test: cst.BaseExpression, within: Node, holds: bool = True) -> bool:
    """Whether a condition in a loop or function holds the first time only (with `holds=False`: does not hold then
    only): nothing is there yet, a flag that the code sets itself, a counter at its start."""
    if isinstance(test, cst.BooleanOperation):
        return holds_first(file, test.left, within, holds) or holds_first(file, test.right, within, holds)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return holds or holds_first(file, test.expression, within, not holds)
    if isinstance(test, cst.Comparison):
        return _compares_first(file, test, within, holds)
    if isinstance(test, cst.Name):
        return isinstance(within, (cst.For, cst.While)) and _is_flag(file, test, within)
    return isinstance(test, cst.Call) and not holds and file.call(test).name == "builtins.hasattr"


def _compares_first(file: File, test: cst.Comparison, within: Node, holds: bool) -> bool:
    operator, other = test.comparisons[0].operator, file.value(test.comparisons[0].comparator)
    if not holds:
        return isinstance(operator, (cst.IsNot, cst.In, cst.NotEqual))
    if isinstance(operator, cst.Equal):
        number = integer(other)
        if number is None or not isinstance(test.left, (cst.Name, cst.Attribute)):
            return other == Const(None)
        return number in (0, 1) or _moves(file, test, within)
    return isinstance(operator, (cst.Is, cst.NotIn))


def _counted_to(file: File, test: cst.BaseExpression, loop: cst.For | cst.While) -> bool:
    """Whether a condition asks if what a loop counts is one certain number, `i == n - 1`, or one of a list of such:
    `if step == decay: decay = decays.pop()`, `if step == decays[done]: done += 1`."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1 or not isinstance(test.left, cst.Name):
        return False
    asked, bound = test.comparisons[0], file.bound_within(loop)
    if not isinstance(asked.operator, cst.Equal) or not _counts(file, test.left.value, loop):
        return False
    listed = asked.comparator
    if isinstance(listed, cst.Subscript) and not any(test.left.value in variables(file, at) for at in listed.slice):
        listed = listed.value  # whichever item it is: the list is there before, and has no more of them
    compared = variables(file, listed)
    return all(_takes_next(d) for d in bound if d.name in compared)


def _counts(file: File, name: str, loop: cst.For | cst.While) -> bool:
    """Whether a name is a number that each iteration of a loop raises: `i` of `range` or `enumerate`, or `i += 1`."""
    counter: cst.BaseExpression | None = None
    if isinstance(loop, cst.For) and isinstance(loop.iter, cst.Call):
        counted = file.call(loop.iter).name
        if counted == "builtins.range":
            counter = loop.target
        elif counted == "builtins.enumerate" and isinstance(loop.target, cst.Tuple) and loop.target.elements:
            counter = loop.target.elements[0].value
    made = [d for d in file.bound_within(loop) if d.name == name]
    if isinstance(counter, cst.Name) and counter.value == name:
        return True
    return bool(made) and all(isinstance(d.value, cst.AugAssign) and _raises(file, d.value) for d in made)


def _raises(file: File, change: cst.AugAssign) -> bool:
    return isinstance(change.operator, cst.AddAssign) and (integer(file.value(change.value)) or 0) > 0


def _takes_next(d: Definition) -> bool:
    """Whether a name is given what is taken off a list, which ends: `steps.pop()`."""
    value = d.value
    return isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute) and value.func.attr.value == "pop"


def _moves(file: File, test: cst.Comparison, within: Node) -> bool:
    """Whether what is compared is a number that goes on from one run to the next."""
    return bool(variables(file, test.left) & _bound(file, within))


def _is_flag(file: File, name: cst.Name, loop: Node) -> bool:
    """Whether a loop sets a name, and not to another condition, which may hold again: `first = False`."""
    made = [d for d in file.bound_within(loop) if d.name == name.value]
    tests = (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)
    return bool(made) and not any(isinstance(d.value, tests) for d in made)


def _bound(file: File, within: Node) -> set[str]:
    if isinstance(within, cst.FunctionDef):
        return set(file.flow(within).bindings)
    return {definition.name for definition in file.bound_within(within)}


def _may_remember(file: File, decorator: cst.Decorator) -> bool:
    return file.text(decorator.decorator).rpartition(".")[2] not in PLAIN_DECORATORS


def _leaves(body: Node) -> bool:
    """Whether a branch ends with leaving the loop or function."""
    last = body.body[-1] if isinstance(body, cst.BaseSuite) and body.body else None
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(small, (cst.Break, cst.Return, cst.Raise))
