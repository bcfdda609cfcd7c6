"""Which consumers of pipelines gain nothing from a batch that is ready ahead: tests of a model, viewers of pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.mapped import body
from tfmemlint.model.values import Const, Dataset
from tfmemlint.query.calls import calls
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.pipelines.consumers import consumptions
from tfmemlint.query.pipelines.lengths import is_one_batch
from tfmemlint.query.pipelines.model_inputs import feeds_model
from tfmemlint.query.pipelines.pipelines import MAPPING, caches_in_memory
from tfmemlint.syntax.scopes import written
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


def waits_little(file: File, arrival: Arrival) -> bool:
    """Whether a consumer would gain next to nothing from a batch that is made ahead: it certainly gets a single one,
    only tests a model with light work, or shows pictures to somebody."""
    ds = arrival.dataset
    if ds.count is not None and ds.count <= 1:
        return True
    return is_one_batch(file, ds) or _only_tests(file, arrival) or _only_shown(file, arrival)


def _only_tests(file: File, arrival: Arrival) -> bool:
    """Whether a model is certainly only tested with a pipeline, or asked what it makes of it, and the pipeline does
    nothing but arithmetic on what is in memory. Measured on 2.21, two busy cores: 10 000 pictures of MNIST, scaled one
    by one, are evaluated in 0.9 to 2.6 s, with a prefetch in 0.8 to 2.1: the difference is lost in how much it varies.
    """
    return _tests(file, arrival) and _is_light(arrival.dataset)


def _tests(file: File, arrival: Arrival) -> bool:
    use = arrival.use
    if use.returned:
        return False
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


def _only_shown(file: File, arrival: Arrival) -> bool:
    """Whether a function gives a pipeline to a program that shows pictures of it, and has no model that could wait.

    The program is the module itself: what it does where it is run by itself (`__name__`) says nothing about others
    that take the function from it.
    """
    use = arrival.use
    if not use.returned or not isinstance(use.node, cst.FunctionDef):
        return False
    if not all(other.returned for other in consumptions.of(file)):
        return False
    if not any(file.calls_by_word.get(word) for word in ("show", "imshow")):
        return False
    return any(_shows(file, node, use.node) for node in file.tree.of(cst.Call))


def _shows(file: File, node: cst.Call, function: cst.FunctionDef) -> bool:
    """Whether a call beside a function, not in another one, shows pictures of what it gives."""
    beside = file.contexts.function(node) is file.contexts.function(function)
    if not beside or not node.args or _run_by_itself(file, node):
        return False
    shown = any(calls(file, node, *SHOWS_PICTURES, through=FOLLOWED_CALLS))
    return shown and any(_made_by(file, arg.value, function, FOLLOWED_CALLS) for arg in node.args)


def _run_by_itself(file: File, node: Node) -> bool:
    """Whether some code runs only where the module is the program."""
    above = [each for each in file.tree.ancestors(node) if isinstance(each, cst.If)]
    return any(name.value == "__name__" for each in above for name in walk(each.test, cst.Name))


def _made_by(file: File, node: cst.CSTNode, function: cst.FunctionDef, left: int) -> bool:
    """Whether names in an expression stand for what is made of what a function gives."""
    for name in walk(node, cst.Name):
        for made in written(file.definitions(name)):
            value = made.value
            if value is None or isinstance(value, (cst.FunctionDef, cst.ClassDef)):
                continue
            if any(_runs(file.call(inner), function) for inner in walk(value, cst.Call)):
                return True
            if left and _made_by(file, value, function, left - 1):
                return True
    return False


def _runs(call: Call, function: cst.FunctionDef) -> bool:
    return getattr(call.target, "node", None) is function
