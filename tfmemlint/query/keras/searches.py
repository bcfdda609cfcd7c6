"""Searches over settings of a model: which functions of the file they run for each trial, all in one process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, Function, Instance, Value, integer
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.flow.storing import only_binding
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.keras.fates import model_at
from tfmemlint.query.keras.models import clears
from tfmemlint.query.limits import FEW_RUNS, FOLLOWED_CALLS
from tfmemlint.query.repetition.counts import folds

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

COUNTS = ("n_trials", "max_evals", "n_calls", "cv")
"""Parameters of searches that say how many trials there are, or from which that can be told."""

TAKES = ("func", "fn", "model", "build_fn")
"""The names of the first parameter of searches and wrappers: the function that they call."""

VALIDATIONS = "sklearn.model_selection.cross_val"
DEFAULT_FOLDS = 5
"""The parts into which scikit-learn's validations split the data where they are not told otherwise."""

PIPES = ("sklearn.pipeline.Pipeline", "sklearn.pipeline.make_pipeline")


@dataclass(frozen=True, slots=True)
class Trial:
    """A function that a search runs for each trial: the call of the search, the function, and whether the search uses
    the model that it gives back, as scikit-learn does, rather than its score."""

    search: Call
    function: cst.FunctionDef | cst.Lambda
    gives_model: bool


def _trials(file: File) -> Iterator[Trial]:
    for search in file.calls(*knowledge.group("runs_trials")):
        if not _is_short(file, search):
            for value in search.given(0, *TAKES).options:
                function = _function(file, value)
                if function is not None:
                    yield Trial(search, function, gives_model=False)
    for wrapper in file.calls(*knowledge.group("wraps_model_factory")):
        taken = (each for each in _taken_by(file, wrapper.node) if _in_one_process(each))
        searches = [each for each in taken if not _is_short(file, each)]
        for value in wrapper.given(0, *TAKES).options if searches else ():
            function = _function(file, value)
            if function is not None:
                yield Trial(searches[0], function, gives_model=True)


trials = Fact(_trials, *sorted({*knowledge.group("runs_trials"), *knowledge.group("wraps_model_factory")}))
"""Each function of the file that a search certainly runs for each of more than `FEW_RUNS` trials, in one process."""


def trial_clears(file: File, trial: Trial) -> bool:
    """Whether the session is cleared in each trial: by the function, or by what the search is given to call besides."""
    callbacks = trial.search.arg("callbacks") is not None and next(file.calls("tf.keras.backend.clear_session"), None)
    return bool(callbacks) or clears(file, trial.function) or clears(file, trial.search.node)


def given_back(file: File, trial: Trial) -> Call | None:
    """The call in a function that makes the model which it gives back, or asks a function of the file for it."""
    node = trial.function
    returned = [node.body] if isinstance(node, cst.Lambda) else [each.value for each in file.returns(node)]
    made = {id(each.node) for value in returned if value is not None for each in makers(file.value(value))}
    for call in calls(file, node):
        if model_at(file, call) == () and made & {id(each.node) for each in makers(call.value)}:
            return call
    return None


def _function(file: File, value: Value) -> cst.FunctionDef | cst.Lambda | None:
    """The function of the file that calling a value runs; of a lambda that only calls another one it is that one, of an
    object its `__call__`."""
    if isinstance(value, Instance) and value.class_node is not None:
        return file.values.classes.method(value.class_node, "__call__")
    node = value.node if isinstance(value, Function) else None
    if isinstance(node, cst.Lambda) and isinstance(node.body, cst.Call):
        target = file.call(node.body).target
        return target.node if isinstance(target, Function) else node
    return node


def _taken_by(file: File, made: Node, left: int = FOLLOWED_CALLS) -> Iterator[Call]:
    """The searches that are given what `made` gives, itself or in a scikit-learn pipeline, also by way of a list."""
    for use in uses(file, made, containers=True) if left else ():
        if use.does is Does.STORE:
            listed = only_binding(file, use.place)
            yield from _taken_by(file, listed, left - 1) if listed is not None else ()
        elif use.does is Does.PASS and use.call is not None:
            if knowledge.in_group(use.call.name, "cross_validates"):
                yield use.call
            elif use.call.name in PIPES:
                yield from _taken_by(file, use.call.node, left - 1)


def _is_short(file: File, search: Call) -> bool:
    """Whether a search certainly has few trials."""
    count = trial_count(file, search)
    return count is not None and count <= FEW_RUNS


def trial_count(file: File, search: Call) -> int | None:
    """The most trials that a search makes; None where the code does not say it, and for a grid, which has several for
    each fold."""
    if (search.name or "").endswith("SearchCV"):
        return None
    splitter = search.arg("cv")
    counts = [integer(search.given(name)) for name in COUNTS]
    counts.append(folds(file, splitter.expression) if splitter is not None else None)
    if splitter is None and search.lacks("cv") and (search.name or "").startswith(VALIDATIONS):
        counts.append(DEFAULT_FOLDS)
    return min((count for count in counts if count is not None), default=None)


def _in_one_process(search: Call) -> bool:
    return search.lacks("n_jobs") or search.given("n_jobs") in (Const(1), Const(None))
