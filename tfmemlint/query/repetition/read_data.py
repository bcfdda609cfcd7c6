"""What reads the data that a model is trained with, and whether a loop trains it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Class, Function
from tfmemlint.query.calls import calls
from tfmemlint.query.keras.data_sets import makes_data_set
from tfmemlint.query.keras.models import saves_model
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.invariance import passed
from tfmemlint.query.repetition.purity import draws_itself
from tfmemlint.syntax.names import Loop
from tfmemlint.syntax.scopes import Binds, dotted, own_nodes, written
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.scopes import Definition


def data_reads(file: File, fit: Call) -> list[Call]:
    """The calls that read what `fit` is given, one of each statement: those of arrays and tables, and those that make
    a Python data set of Keras whose `__init__` reads or decodes it, the same each time.

    They are looked for behind names and parameters, and in the functions that give them, `FOLLOWED_CALLS` deep.
    """
    found = _behind(file, [arg.value for arg in fit.node.args[:2]], set())
    return list({id(file.tree.statement(each.node)): each for each in found}.values())


def trains_in(file: File, fit: Call, loop: Loop, *, read: bool = False) -> bool:
    """Whether a loop runs a call, itself or through functions of the file, `FOLLOWED_CALLS` deep.

    With `read`, which asks for data from files, not a loop that writes data to files, which may be those that it reads.
    """
    if read and _writes(file, fit, loop):
        return False
    places = [fit]
    for _ in range(FOLLOWED_CALLS + 1):
        if any(file.tree.contains(loop, place.node) for place in places):
            return True
        around = {id(function): function for place in places if (function := file.contexts.function(place.node))}
        places = [caller for function in around.values() for caller in file.call_graph.callers(function) or ()]
    return False


def _writes(file: File, fit: Call, loop: Loop) -> bool:
    """Whether the body of a loop calls what writes data to files: not what saves a model, or the one that is fitted."""
    writing = [each for each in calls(file, loop.body) if knowledge.in_group(each.method, "writes_data")]
    fitted = dotted(fit.receiver_node) if fit.receiver_node is not None else None
    others = (each for each in writing if fitted is None or dotted(each.node.func) != f"{fitted}.{each.method}")
    return any(not saves_model(file, each) for each in others)


MOST_NAMES = 20
"""Names behind which one `fit` is followed."""


def _behind(file: File, given: Iterable[cst.BaseExpression], seen: set[int]) -> Iterator[Call]:
    """The calls that read data behind some expressions; `seen` are the definitions that were looked at."""
    for expression in given:
        for node in walk(expression, cst.Call):
            yield from _inside(file, file.call(node), FOLLOWED_CALLS)
        for name in walk(expression, cst.Name):
            for d in written(file.definitions(name)):
                if id(d) not in seen and len(seen) < MOST_NAMES:
                    seen.add(id(d))
                    yield from _behind(file, _given(file, d), seen)


def _given(file: File, definition: Definition) -> list[cst.BaseExpression]:
    """What a name is given: a value, or as a parameter the arguments of its callers."""
    function = definition.scope
    if definition.binds is Binds.PARAMETER and isinstance(function, cst.FunctionDef):
        callers = file.call_graph.callers(function) or ()
        return [each for call in callers for each in passed(call, function, (definition.name,))]
    value = definition.value if definition.binds is Binds.VALUE else None
    return [value] if isinstance(value, cst.BaseExpression) else []


def _inside(file: File, call: Call, left: int) -> Iterator[Call]:
    """A call that reads data, or those in the functions that it calls."""
    if knowledge.in_group(call.name, "reads_data") or (makes_data_set(file, call) and _reads_when_made(file, call)):
        yield call
        return
    for target in call.target.options if left else ():
        for node in own_nodes(target.node, cst.Call) if isinstance(target, Function) else ():
            yield from _inside(file, file.call(node), left - 1)


def _reads_when_made(file: File, call: Call) -> bool:
    """Whether the constructors of what a call makes read data, and draw nothing at random."""
    classes = file.values.classes
    made = [classes.method(each.node, "__init__") for each in call.target.options if isinstance(each, Class)]
    return all(each is not None and _reads(file, each, FOLLOWED_CALLS) for each in made)


def _reads(file: File, function: cst.FunctionDef, left: int) -> bool:
    """Whether a function, or one that it calls, reads arrays, or decodes files in a loop, and none of them draws."""
    if draws_itself(file, function):
        return False
    calls = [file.call(node) for node in own_nodes(function, cst.Call)]
    targets = [target.node for call in calls for target in call.target.options if isinstance(target, Function)]
    inner = [each for each in targets if isinstance(each, cst.FunctionDef) and each is not function]
    if any(draws_itself(file, each) for each in inner):
        return False
    if any(_reads_much(file, call) for call in calls):
        return True
    return left > 0 and any(_reads(file, each, left - 1) for each in inner)


def _reads_much(file: File, call: Call) -> bool:
    repeated = file.contexts.loop(call.node) is not None or file.contexts.comprehension(call.node) is not None
    return knowledge.in_group(call.name, "reads_data") or (repeated and knowledge.in_group(call.name, "decodes_media"))
