"""Where pipelines are consumed: `fit`, `evaluate`, `predict`, training loops, and functions that return them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint.model.pipelines_seen import any_pipeline_seen
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Dataset, Function, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.keras.models import is_model
from tfmemlint.query.limits import FOLLOWED_CALLS, RUN_THROUGH
from tfmemlint.query.pipelines.chains import last_call, possible_later_steps
from tfmemlint.query.pipelines.model_inputs import (
    drawn_from,
    feeds_model,
    first_of_its_own,
    model_arguments,
    origin,
    used_as_model,
)
from tfmemlint.query.pipelines.pipelines import PIPELINES, pipelines_of
from tfmemlint.query.pipelines.together import same_so_far
from tfmemlint.syntax.names import names_any
from tfmemlint.syntax.scopes import Binds, Definition, parameters, written
from tfmemlint.syntax.tree import called_word, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.names import Loop
    from tfmemlint.syntax.tree import Node

NAMES = ("fit", "evaluate", "predict")
METHODS = tuple(f"tf.keras.Model.{name}" for name in NAMES)

GOES_ON = ("batch", "padded_batch", "map", "shuffle", "repeat", "cache", "filter", "prefetch")
"""Steps that make another pipeline for a model, and no look at some elements."""

COMBINES = tuple(
    f"tf.data.Dataset.{name}" for name in ("zip", "concatenate", "sample_from_datasets", "choose_from_datasets")
)
"""Steps that make one pipeline of several."""


class Given(NamedTuple):
    """The pipelines that one expression hands to what consumes them; the expression is None where it gives something
    else, as an iterator, or is not seen."""

    expression: cst.BaseExpression | None
    datasets: tuple[Dataset, ...]


NOTHING = Given(None, ())


@dataclass(frozen=True, slots=True)
class Consumption:
    """A place that consumes pipelines.

    `node` is the call of `fit` and its like, the loop, the call that draws an element in a loop, or the function that
    returns the pipelines. `given` is what arrives there, of a function what each of its returns gives; beside what
    callers may pass, nothing else does. `validation` is the validation data of `fit`. `taker` is the call that gives a
    model the elements as they are: the method itself, or the call of a model in the loop; None where none is seen.
    `returned` says that a function gives them to callers that are not seen to go on with them, `peeks` that each
    iteration takes the first element of an iterator of its own.
    """

    node: Node | Call
    given: tuple[Given, ...]
    taker: Call | None = None
    validation: Given = field(default=NOTHING, kw_only=True)
    returned: bool = field(default=False, kw_only=True)
    peeks: bool = field(default=False, kw_only=True)

    @property
    def datasets(self) -> tuple[Dataset, ...]:
        """The pipelines that may arrive, validation data left out."""
        return tuple(ds for given in self.given for ds in given.datasets)


def _consumptions(file: File) -> Iterator[Consumption]:
    for find in (_methods, _loops, _draws, _returned) if any_pipeline_seen(file) else ():
        yield from find(file)


consumptions = Fact(_consumptions, *PIPELINES)
"""Each place at which pipelines are consumed: methods of models, training loops, functions that return them."""


def arriving(file: File, node: cst.BaseExpression) -> Given:
    """The pipelines that an expression certainly gives, beside what callers may pass in their place: a parameter of
    which nothing is known says nothing against the pipeline that is made where none is passed."""
    ways = _ways(file, node)
    datasets = [ds for value in ways for ds in pipelines_of(value)]
    seen = bool(ways) and all(pipelines_of(value) for value in ways)
    return Given(node, tuple(dict.fromkeys(datasets))) if seen else NOTHING


def _ways(file: File, node: cst.BaseExpression, left: int = FOLLOWED_CALLS) -> list[Value]:
    """What an expression gives, by the way it came; left out is what a parameter was given that is not known."""
    value = file.value(node)
    if value.known or not left:
        return [value]
    if isinstance(node, cst.Name):
        found = file.definitions(node)
        made = [d for d in written(found) if d.binds is not Binds.PARAMETER]
        passed = [d for d in written(found) if d.binds is Binds.PARAMETER]
        if len(made) + len(passed) < len(found) or not made:
            return [] if passed and len(passed) == len(found) else [value]
        whole = [d for d in made if d.binds is Binds.VALUE and not d.path and isinstance(d.value, cst.BaseExpression)]
        if len(whole) == len(made):
            return [way for d in made for way in _ways(file, _expression(d), left - 1)]
    elif isinstance(node, cst.IfExp):
        return [way for part in (node.body, node.orelse) for way in _ways(file, part, left - 1)]
    elif isinstance(node, cst.BooleanOperation) and isinstance(node.operator, cst.Or):
        return [way for part in (node.left, node.right) for way in _ways(file, part, left - 1)]
    return [value]


def _expression(definition: Definition) -> cst.BaseExpression:
    assert isinstance(definition.value, cst.BaseExpression)
    return definition.value


def _methods(file: File) -> Iterator[Consumption]:
    for call in _model_methods(file):
        data, validation = call.arg("x") or call.arg(0), call.arg("validation_data")
        given = arriving(file, data.expression) if data is not None else NOTHING
        validated = arriving(file, validation.expression) if validation is not None else NOTHING
        if given.datasets or validated.datasets:
            yield Consumption(call, (given,), call, validation=validated)


def _model_methods(file: File) -> Iterator[Call]:
    """Calls of a model's methods, also where only the use of the object tells that it is a model."""
    yield from file.calls(*METHODS)
    for node in (node for name in NAMES for node in file.calls_by_word.get(name, ())):
        call = file.call(node)
        if not call.target.known and call.receiver_node is not None and used_as_model(file, call.receiver_node):
            yield call


def _loops(file: File) -> Iterator[Consumption]:
    for loop in file.tree.of(cst.For):
        given = arriving(file, _run_through(loop.iter))
        if not given.datasets:
            value = file.contexts.iterated(loop)
            given = Given(None, pipelines_of(value) if value is not None else ())
        if given.datasets and trains(file, loop):
            yield Consumption(loop, (given,), taker(file, loop.body, loop.iter))


def _run_through(node: cst.BaseExpression) -> cst.BaseExpression:
    """What stands in `enumerate(...)` and its like."""
    while isinstance(node, cst.Call) and called_word(node) in RUN_THROUGH:
        inner = node.func.value if isinstance(node.func, cst.Attribute) and not node.args else None
        if inner is None and not node.args:
            break
        node = inner if inner is not None else node.args[0].value
    return node


def _draws(file: File) -> Iterator[Consumption]:
    for node in (node for word in ("next", "get_next") for node in file.calls_by_word.get(word, ())):
        loop = file.contexts.loop(node)
        if loop is None or not isinstance(file.tree.parent(node), cst.Assign):
            continue
        datasets = drawn_from(file, node)
        if datasets and trains(file, loop):
            given, taken_by = (Given(None, datasets),), taker(file, loop.body, node)
            yield Consumption(file.call(node), given, taken_by, peeks=first_of_its_own(file, node, loop))


def trains(file: File, loop: Loop) -> bool:
    """Whether a loop's body certainly trains or runs a model, itself or in functions of the module that it calls, or
    gives what it iterates to a method of a model."""
    inside = calls(file, loop.body, through=FOLLOWED_CALLS)
    if any("tf.GradientTape" in call.names or feeds_model(file, call) for call in inside):
        return True
    names = {name.value for name in walk(loop.target, cst.Name)} if isinstance(loop, cst.For) else set[str]()
    return any(_takes(file, call, names) for call in calls(file, loop.body))


def _takes(file: File, call: Call, names: set[str]) -> bool:
    """Whether a call gives something of these names to a method that a class of the module adds to Keras' models."""
    if not isinstance(call.target, Function) or call.target.receiver is None or not is_model(file, call.receiver):
        return False
    return any(names_any(arg.value, names) for arg in call.node.args)


def taker(file: File, code: Node, source: Node) -> Call | None:
    """The first call in some code that gives a model exactly what the code takes from `source`: an element of what a
    loop runs over, or what a call draws."""
    for call in calls(file, code):
        for arg in model_arguments(file, call):
            made = origin(file, arg.value)
            if arg.value is source or (made is not None and made.value is source):
                return call
    return None


def _returned(file: File) -> Iterator[Consumption]:
    for function in file.tree.of(cst.FunctionDef):
        given = returned_pipelines(file, function)
        if given and not _inside_another(file, function):
            if not _is_stage(file, function, given) and not _carried_on(file, function, given):
                yield Consumption(function, given, returned=True)


def returned_pipelines(file: File, function: cst.FunctionDef) -> tuple[Given, ...]:
    """The pipelines that a function returns, alone or in tuples and dictionaries; none where some `return` gives
    none, or may give something else."""
    found: list[Given] = []
    for statement in file.returns(function):
        given = elements(file.value(statement.value)) if statement.value is not None else ()
        made = [option for value in given for option in value.options if isinstance(option, Dataset)]
        if not made or statement.value is None or (len(given) == 1 and len(made) != len(given[0].options)):
            return ()
        found += _parts(file, statement.value) or [Given(None, tuple(made))]
    return tuple(found)


def _parts(file: File, node: cst.BaseExpression) -> list[Given]:
    """What the parts of a tuple give, or an expression itself; none where it holds pipelines in another way."""
    parts = [element.value for element in node.elements] if isinstance(node, cst.Tuple) else [node]
    found = [Given(part, pipelines_of(file.value(part))) for part in parts]
    return [given for given in found if given.datasets]


def _inside_another(file: File, function: cst.FunctionDef) -> bool:
    """Whether an `interleave` or its like runs a function, so that what it returns are parts of another pipeline."""
    callers = file.call_graph.callers(function) or ()
    return file.contexts.mapped(function.body.body[0]) or any(file.contexts.mapped(call.node) for call in callers)


def _is_stage(file: File, function: cst.FunctionDef, given: Iterable[Given]) -> bool:
    """Whether a function is given one of the pipelines that it returns, and takes it further: the next may follow."""
    values = (file.values.functions.parameter(param, function, None) for param in parameters(function))
    passed = [option for value in values for option in value.options if isinstance(option, Dataset)]
    return any(same_so_far(ds, start) for each in given for ds in each.datasets for start in passed)


def _carried_on(file: File, function: cst.FunctionDef, given: Iterable[Given]) -> bool:
    """Whether a caller goes on with what a function gives, or a prefetch or another pipeline elsewhere takes it up;
    what another module calls ends there."""
    if file.call_graph.callers_elsewhere(function) != ():
        return True
    if any(isinstance(file.tree.parent(c.node), cst.Attribute) for c in file.call_graph.callers(function) or ()):
        return True
    lasts = (last_call(file, ds) for each in given for ds in each.datasets)
    later = (call for last in lasts if last is not None for call in possible_later_steps(file, last, *GOES_ON))
    if any(not file.tree.contains(function, call.node) for call in later):
        return True
    others = (ds for call in file.calls("tf.data.Dataset.prefetch") for ds in call.datasets())
    joined = (call for call in file.calls(*COMBINES) if not file.tree.contains(function, call.node))
    parts = (part for call in joined for ds in pipelines_of(call.value) for each in ds.parents for part in each.options)
    all_of_them = (*others, *(part for part in parts if isinstance(part, Dataset)))
    if any(same_so_far(other, ds) for each in given for ds in each.datasets for other in all_of_them):
        return True  # also where a stage has made its last steps, which stand in another function
    made = (step.call for ds in all_of_them for step in ds.steps if step.call is not None)
    return any(file.tree.contains(function, call.node) for call in made)
