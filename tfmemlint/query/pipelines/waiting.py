"""Which consumers of pipelines gain nothing from a batch that is ready ahead: tests of a model, viewers of pictures,
callers that only look at what a function gives them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.mapped import body
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Const, Dataset, integer
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.limits import FEW_BATCHES, FOLLOWED_CALLS
from tfmemlint.query.pipelines.consumers import consumptions
from tfmemlint.query.pipelines.distributed import is_distributed
from tfmemlint.query.pipelines.generators import runs_op
from tfmemlint.query.pipelines.lengths import is_one_batch
from tfmemlint.query.pipelines.model_inputs import feeds_model
from tfmemlint.query.pipelines.pipelines import MAPPING, caches_in_memory, pipelines_of
from tfmemlint.query.pipelines.together import path
from tfmemlint.query.repetition.repeats import repeats
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.query.pipelines.ends import Arrival
    from tfmemlint.syntax.tree import Node

TESTS = frozenset({"evaluate", "predict"})

TRAINS = ("tf.GradientTape", "fit", "train_on_batch", "train_step", "apply_gradients", "minimize", "gradient")
"""Calls, or the last words of calls, by which a loop changes a model."""

SHOWS_PICTURES = ("matplotlib.", "cv2.imshow")

PASSES_ON = frozenset({"tf", "np", "builtins", "matplotlib", "cv2"}) | sys.stdlib_module_names
"""Libraries whose functions train no model with what they are given, unless that is seen."""

MOST_USES = 8
"""Calls behind each other through which it is followed where the elements of a pipeline go."""


def waits_little(file: File, arrival: Arrival) -> bool:
    """Whether a consumer would gain next to nothing from a batch that is made ahead: it certainly gets a single one,
    only tests a model with light work, with a few batches or to show pictures, or gives the pipeline to callers all of
    which are seen, so that what they do with it decides."""
    ds, steps = arrival.dataset, _steps(arrival)
    if arrival.use.returned:
        function = arrival.use.node
        if not isinstance(function, cst.FunctionDef):
            return _spread(file)
        return _spread(file) or is_distributed(file, function) or _callers_are_seen(file, function)
    if 1 in (ds.count, steps) or ds.count == 0 or is_one_batch(file, ds):
        return True
    if not _tests(file, arrival):
        return False
    light = _is_light(ds) or _few(ds.count) or _few(steps)
    return light or _shows(file, arrival) or _once_after_training(file, arrival)


def _once_after_training(file: File, arrival: Arrival) -> bool:
    """Whether a method tests a model once with a pipeline, where another one trains it with as much: that takes as long
    as many such tests. What a model is asked to predict may be any number of files."""
    use, made = arrival.use, path(arrival.dataset)
    if use.taker is None or use.node is not use.taker or use.taker.method != "evaluate":
        return False
    if repeats(file, use.taker.node) is not None:
        return False
    others = [other for other in consumptions.of(file) if other is not use and not other.returned]
    if any(path(ds) == made for other in others for ds in (*other.datasets, *other.validation.datasets)):
        return False
    return any(other.taker is not None and other.taker.method == "fit" for other in others if other.datasets)


def _spread(file: File) -> bool:
    """Whether estimators are told a strategy, which keeps batches ready on each of its devices."""
    return any(call.arg("train_distribute") is not None for call in file.calls("tf.estimator.RunConfig"))


def _few(batches: int | None) -> bool:
    return batches is not None and 0 <= batches <= FEW_BATCHES


def _steps(arrival: Arrival) -> int | None:
    """The number of batches that a method of a model is told to take of a pipeline, where it is known."""
    taker, given = arrival.use.taker, arrival.given is arrival.use.validation
    if taker is None or taker is not arrival.use.node:
        return None
    name = "validation_steps" if given else "steps_per_epoch" if taker.method == "fit" else "steps"
    return integer(taker.given(name))


def _shows(file: File, arrival: Arrival) -> bool:
    """Whether a loop shows pictures of what it takes: a person looks at them, which takes longer than the next ones."""
    loop = arrival.use.node
    return isinstance(loop, (cst.For, cst.While)) and any(calls(file, loop, *SHOWS_PICTURES, through=FOLLOWED_CALLS))


def _tests(file: File, arrival: Arrival) -> bool:
    """Whether a model is certainly only tested with a pipeline, or asked what it makes of it.

    Measured on 2.21, two busy cores: 10 000 pictures of MNIST, scaled one by one, are evaluated in 0.9 to 2.6 s, with a
    prefetch in 0.8 to 2.1: the difference is lost in how much it varies.
    """
    use = arrival.use
    if arrival.given is use.validation:
        return True
    if use.taker is not None and use.node is use.taker:
        return use.taker.method in TESTS
    loop = use.node if isinstance(use.node, cst.CSTNode) else file.contexts.loop(use.node.node)
    return loop is not None and not _trains(file, loop)


def _trains(file: File, loop: Node) -> bool:
    """Whether the body of a loop may change a model: it does not only call one that is seen."""
    inside = list(calls(file, loop, through=FOLLOWED_CALLS))
    if any(call.method in TRAINS or call.name in TRAINS or call.given("training") == Const(True) for call in inside):
        return True
    return not any(feeds_model(file, call) for call in inside)


def _is_light(ds: Dataset) -> bool:
    """Whether a pipeline certainly takes what is in memory, arrays or a cache, opens and decodes nothing and runs no
    Python."""
    if ds.source == "tf.data.Dataset.zip" and ds.parents:
        return all(isinstance(each, Dataset) and _is_light(each) for each in ds.parents)
    caches = [step.name == "cache" and step.call is not None and caches_in_memory(step.call) for step in ds.steps]
    start = len(caches) - caches[::-1].index(True) if True in caches else 0
    found = [body(step) for step in ds.steps[start:] if step.name in MAPPING]
    if any(each.unseen or each.reads or each.decodes or each.does("runs_python") for each in found):
        return False
    return True in caches or knowledge.in_group(ds.source, "slices_memory")


# -- callers ---------------------------------------------------------------------------------------------------------


def only_looked_at(file: File, made: Call) -> bool:
    """Whether a pipeline is certainly made to be looked at, counted or written: all that is done with it is seen, no op
    computes with its elements, and no model takes it, nor does another module."""
    if not _is_taken(file, made) or not _stays(file, made.node, computes=False):
        return False
    models = (use for use in consumptions.of(file) if not use.returned)
    return not any(made.node in path(ds) for use in models for ds in (*use.datasets, *use.validation.datasets))


def _is_taken(file: File, made: Call) -> bool:
    """Whether a loop runs over a pipeline, or a call is given it."""
    return made.node in _taken(file)


@once_per_file
def _taken(file: File) -> frozenset[Node | None]:
    """The calls through which the pipelines went that loops run over and calls are given."""
    taken = [loop.iter for loop in file.tree.of(cst.For)]
    taken += [arg.value for call in file.tree.of(cst.Call) for arg in call.args]
    return frozenset(node for each in taken for ds in pipelines_of(file.value(each)) for node in path(ds))


def _callers_are_seen(file: File, function: cst.FunctionDef) -> bool:
    """Whether all that is done with what a function returns is seen: it is called, in this module alone, and none of
    its callers hands the elements to what is not seen.

    What a module does where it is run by itself (`__name__`) says nothing about others that take the function from it.
    """
    callers = file.call_graph.callers(function)
    if not callers or file.call_graph.callers_elsewhere(function) != ():
        return False
    if file.class_of(file.scope_of(function)) is not None:
        return False
    looked_at = any(next(uses(file, each.node), None) is not None for each in callers)
    return looked_at and all(not _run_by_itself(file, each.node) and _stays(file, each.node) for each in callers)


def _run_by_itself(file: File, node: Node) -> bool:
    """Whether some code runs only where the module is the program."""
    above = [each for each in file.tree.ancestors(node) if isinstance(each, cst.If)]
    return any(name.value == "__name__" for each in above for name in walk(each.test, cst.Name))


def _stays(file: File, made: Node, left: int = MOST_USES, *, computes: bool = True) -> bool:
    """Whether what is made goes, whole or in parts, to code alone that is seen; without `computes` to no op, either,
    but those that show or write."""
    found = uses(file, made, parts=True, containers=True, returned=True, through=FOLLOWED_CALLS)
    return left > 0 and all(_is_seen(file, use, left - 1, computes=computes) for use in found)


def _is_seen(file: File, use: Use, left: int, *, computes: bool) -> bool:
    if use.does in (Does.RETURN, Does.STORE, Does.CALL, Does.OTHER, Does.SET):
        return False
    if use.call is None or use.word == "numpy" or any(use.call == each.taker for each in consumptions.of(file)):
        return True
    if not computes and _computes(use.call):
        return False
    seen = use.does is Does.METHOD or _library(file, use.call) in PASSES_ON
    return seen and _stays(file, use.call.node, left, computes=computes)


def _computes(call: Call) -> bool:
    """Whether a call certainly runs an op that neither shows or writes what it is given, nor gets it ready for that."""
    plain = any(each.startswith(("tf.data.", "tf.io.")) or knowledge.in_group(each, "shows") for each in call.names)
    return runs_op(call) and not plain


def _library(file: File, call: Call) -> str:
    """The library whose function a call runs, or the method of what that has made; empty where it is not seen."""
    for _ in range(MOST_USES):
        if call.name:
            return call.name.partition(".")[0]
        receiver = call.receiver_node
        made = file.only_definition(receiver) if isinstance(receiver, cst.Name) else None
        inner = made.value if made is not None else receiver
        if not isinstance(inner, cst.Call):
            break
        call = file.call(inner)
    return ""
