"""Loops and `with` blocks.

A loop over known items is followed turn by turn. Of another one, or a long one that trains, one turn is followed for
what it changes, which is then not known, and one more for what it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import assigning, displays, known, lacking, stepping
from tfmemlint.estimate.facts.values import MISSING, NONE, Env, Object, Open, Origin, join
from tfmemlint.model.values import Const, Length, OneOf, Sequence, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.estimate.facts.machine import Machine
    from tfmemlint.estimate.facts.state import Outcome

MOST_TRAINING = 8
"""Turns of a loop that trains in each."""

MOST_WORK = 10_000
"""Statements and expressions of a loop that are followed turn by turn; one turn stands for those behind them."""


def follow(machine: Machine, loop: cst.For | cst.While, env: Env) -> Outcome:
    """Follow a loop."""
    if isinstance(loop, cst.While):
        test = machine.value(loop.test, env)
        if known.truth(test) is False:
            return None
        why = lacking.of(test)
        return stepping.around(
            machine, loop, NONE, lambda: _some(machine, lambda: machine.suite(loop.body, env), why, env)
        )
    over = machine.value(loop.iter, env)
    turns = known.items(over)
    if turns is None or len(turns) > displays.MOST_ITEMS:
        return stepping.around(machine, loop, over, lambda: _over(machine, loop, over, env))
    return stepping.around(machine, loop, NONE, lambda: _turns(machine, loop, turns, env))


def _turns(machine: Machine, loop: cst.For, turns: tuple[Value, ...], env: Env) -> Outcome:
    """Follow each turn of a loop over known items; of a long one that trains the first, and one that stands for all."""
    seen, start = len(machine.events) + len(machine.taken), machine.work
    for index, item in enumerate(turns):
        assigning.assign(machine, loop.target, item, env)
        outcome = machine.suite(loop.body, env)
        if outcome is not None and outcome[0] == "break":
            return None
        if outcome is not None and outcome[0] != "continue":
            return outcome
        trains = len(machine.events) + len(machine.taken) > seen
        long = machine.work - start > MOST_WORK and index + 1 < len(turns)
        if long or (trains and index == 0 and len(turns) > MOST_TRAINING):
            return _over(machine, loop, Sequence(turns), env)
    return machine.suite(loop.orelse.body, env) if loop.orelse is not None else None


def _over(machine: Machine, loop: cst.For, over: Value, env: Env) -> Outcome:
    """Follow one turn that stands for all."""

    def turn() -> Outcome:
        item = _any_item(over)
        if stepping.is_data(over):
            item = stepping.drawn(machine, over, item)
        assigning.assign(machine, loop.target, item, env)
        return machine.suite(loop.body, env)

    return _some(machine, turn, lacking.of(over), env)


def _any_item(over: Value) -> Value:
    if isinstance(over, Sequence) and over.items and all(isinstance(each, Const) for each in over.items):
        return Open("an item")
    item = known.element_of(over)
    return Unknown(item.why) if isinstance(item, Open) else item


def _some(machine: Machine, turn: Callable[[], Outcome], why: tuple[Origin, ...], env: Env) -> Outcome:
    """Follow a turn of a loop that may run any number of times, for want of what `why` names: once for what it changes,
    once for what it does."""
    machine.quiet += 1
    applied, taken = len(machine.record.now), len(machine.taken)
    try:
        _, changes = machine.branch(turn)
    finally:
        machine.quiet -= 1
        del machine.record.now[applied:], machine.taken[taken:]
        if machine.batches:
            machine.batches[-1].numbers.clear()
    for where, key, after in changes.values():
        before = where.get(key, MISSING)
        if before is not MISSING and after is not MISSING and before is not after and before != after:
            machine.put(where, key, machine.caused(where, key, _widened(before, after), why))
    outcome = turn()
    return outcome if outcome is not None and outcome[0] == "return" and not env.returns else None


def _widened(before: Value, after: Value) -> Value:
    if before == NONE:
        return after
    if isinstance(before, (Const, Length)) and isinstance(after, (Const, Length)):
        return Open("it changes in a loop")
    joined = join(before, after)
    return Open("it changes in a loop") if isinstance(joined, OneOf) else joined


# -- with ------------------------------------------------------------------------------------------------------------


def entered(machine: Machine, statement: cst.With, env: Env) -> Outcome:
    """Follow a `with` block."""
    tapes = 0
    for each in statement.items:
        value = machine.value(each.item, env)
        if each.asname is not None:
            assigning.assign(machine, each.asname.name, value, env)
        if isinstance(value, Object) and value.type_name == "tf.GradientTape":
            machine.tapes.append(value)
            tapes += 1
    outcome = machine.suite(statement.body, env)
    del machine.tapes[len(machine.tapes) - tapes :]
    return outcome
