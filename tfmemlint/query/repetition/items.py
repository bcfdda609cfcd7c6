"""What gives an expression one item after the other, and how often it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model import decided
from tfmemlint.model.values import Const, Length
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.parameters import parameters_behind
from tfmemlint.query.flow.stores import fills
from tfmemlint.query.limits import FEW_STEPS, FOLLOWED_CALLS
from tfmemlint.query.repetition.counts import called_view
from tfmemlint.query.repetition.repeats import Repetition, repetitions
from tfmemlint.query.tensors.rows import rows_in
from tfmemlint.syntax.names import is_variable, variables
from tfmemlint.syntax.scopes import Binds, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

LISTENS = frozenset({"observe", "on_click", "on_submit"})
"""Methods of ipywidgets that take a function to call when somebody uses the widget."""


def item_loop(file: File, given: cst.BaseExpression, *, single: bool, left: int = FOLLOWED_CALLS) -> Repetition | None:
    """What gives an expression another item or batch each time: a loop, a comprehension or `map` around it; around the
    calls of its function, too, where it is certainly one item that the function is given, `single`. None for what is
    done when somebody presses a key or a button, or for the files that somebody uploads.

    A buffer that the loop fills in place is another each time, too. Loops over the parts of a dictionary do not count,
    which may be data sets, nor those that wait for somebody to type.
    """
    single = single or rows_in(file, given) == 1
    for again in repetitions(file, given, calls=0) if single or left == FOLLOWED_CALLS else ():
        if _is_for_person(file, again):
            return None
        if again.handler or not is_another(file, given, again) or _is_waited_for(file, again):
            continue
        if not single and any(called_view(each.iter) is not None for each in again.each):
            return None
        if not again.few(FEW_STEPS):
            return again
    callers = _all_callers(file, given) if left else []
    for name in parameters_behind(file, given) if callers else ():
        for passed in (call.arg(name) for call in callers):
            found = item_loop(file, passed.expression, single=single, left=left - 1) if passed is not None else None
            if found is not None:
                return found
    return None


def _is_for_person(file: File, again: Repetition) -> bool:
    """Whether a loop goes over what somebody does or gives: the events of a window, the files of an upload; or stands
    in a function that a widget calls when its value changes or it is pressed."""
    over = [file.written(each.iter) for each in again.each]
    views = (called_view(each) if isinstance(each, cst.BaseExpression) else None for each in over)
    given = [*over, *(file.written(view) for view in views if view is not None)]
    if any(
        isinstance(each, cst.Call) and knowledge.in_group(file.call(each).name, "waits_for_person") for each in given
    ):
        return True
    function = file.contexts.function(again.place)
    takers = (file.call_graph.given_to(use) for use in file.call_graph.uses(function)) if function is not None else ()
    return any(taker is not None and taker.method in LISTENS for taker in takers)


def _all_callers(file: File, node: Node) -> list[Call]:
    """The calls of the function that a node stands in which may come to it, as far as they are seen, those in other
    modules behind them."""
    function = file.contexts.function(node)
    if function is None:
        return []
    found = (*(file.call_graph.callers(function) or ()), *(file.call_graph.callers_elsewhere(function) or ()))
    return [call for call in found if decided.reached(file.values, (node, call.node))]


def is_another(file: File, given: cst.BaseExpression, again: Repetition) -> bool:
    """Whether a name in an expression is bound anew in each iteration, or it is a buffer that the loop fills."""
    names = variables(file, given)
    return bool(names & again.bound) or is_filled_by(file, given, again.place)


def is_filled_by(file: File, given: cst.BaseExpression, loop: Node) -> bool:
    """Whether an expression is (made of) a container or an array into which a loop puts items. One that gets columns
    is a buffer where its rows are known, else it may be a data set of which the loop changes one column at a time."""
    if not isinstance(loop, (cst.For, cst.While)):
        return False
    columns = rows_in(file, given) is not None
    return any(fills(file, loop, name, columns=columns) for name in _names_behind(file, given, loop))


def _names_behind(file: File, given: cst.BaseExpression, loop: Node) -> Iterator[cst.Name]:
    """The names in an expression, and in what a loop gives those or what they are other names of."""
    waiting, seen = list(walk(given, cst.Name)), set[Node]()
    while waiting:
        name = waiting.pop()
        yield name
        found = file.definitions(name) if is_variable(file, name) else ()
        for d in written(found):
            alike = isinstance(d.value, cst.Name) or file.tree.contains(loop, d.node)
            if alike and d.binds is Binds.VALUE and d.value is not None and d.node not in seen:
                seen.add(d.node)
                waiting += walk(d.value, cst.Name)


def _is_waited_for(file: File, again: Repetition) -> bool:
    """Whether a loop asks for input, or the one call of its function stands in a loop that does: each time it makes one
    answer, for somebody who types. A number of iterations that is known, and is not small, counts more than that."""
    if _waits_for_input(file, again):
        return True
    function = file.contexts.function(again.place)
    callers = (file.call_graph.callers(function) or ()) if function is not None else ()
    if len(callers) != 1 or again.count is not None:
        return False
    return any(_waits_for_input(file, around) for around in repetitions(file, callers[0].node, calls=0))


def _waits_for_input(file: File, again: Repetition) -> bool:
    body = again.place.body if isinstance(again.place, (cst.For, cst.While)) else None
    return body is not None and next(calls(file, body, "builtins.input"), None) is not None


def is_rare(file: File, node: Node, again: Repetition) -> bool:
    """Whether the iterations get to some code only now and then: `if step % 100 == 0`, `if len(waiting) == 64`."""
    around = (above for inside in (node, again.inside) for above in file.tree.ancestors(inside))
    for test in (a.test for a in around if isinstance(a, cst.If) and file.tree.contains(again.place, a)):
        if any(isinstance(each.operator, cst.Modulo) for each in walk(test, cst.BinaryOperation)):
            return True
        if any(_waits(file, each) for each in walk(test, cst.Comparison)):
            return True
    return False


def _waits(file: File, test: cst.Comparison) -> bool:
    """Whether a test waits until a list has some length: not whether it holds anything."""
    counted = isinstance(test.left, cst.Call) and file.call(test.left).name == "builtins.len"
    bound = file.value(test.comparisons[0].comparator)
    number = bound.value if isinstance(bound, Const) else None
    return counted and number not in (0, 1) and not isinstance(bound, Length)
