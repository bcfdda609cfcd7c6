"""Which call of a loop or search makes a model that is used and forgotten each time, and what that leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from tfmemlint.api import (
    Call,
    Const,
    Fact,
    File,
    Function,
    Node,
    Value,
    calls,
    flow,
    keras,
    limits,
    once_per_file,
    ordering,
    repetition,
    tracing,
    walk,
)

PRETRAINED = "tf.keras.applications."
WORTH_NAMING = 1 << 20
"""Bytes of a model from which on the message names them: smaller ones are lost beside their graphs. A smaller one that
is never trained has no graphs: it is not worth a line."""

FEW_FOLDS = 5
"""Folds of a cross validation that a loop counts: one evaluation, which five models of common sizes survive."""

STEPS = ("apply_gradients", "minimize")
"""Methods of optimizers that change a model's weights."""

FLOAT32 = 4


class UsedUp(NamedTuple):
    """A model that is made, used and forgotten each time: whether it is `trained` (None: not known), and the bytes that
    a trained one leaves with words for them (None and "" where they are not known)."""

    trained: bool | None
    bytes: int | None = None
    words: str = ""


class Built(NamedTuple):
    """What a loop builds and forgets each time, those that are certainly trained first: one repair is for all."""

    loop: Node
    models: list[tuple[Call, UsedUp]]


def _built_in_loops(file: File) -> Iterator[Built]:
    found: dict[Node, list[tuple[Call, UsedUp]]] = {}
    for call in repetition.repeated_calls.of(file):
        loop = repetition.repeats(file, call.node, calls=0, beyond=limits.FEW_RUNS)
        made = used_up(file, call, loop.place) if loop is not None and not loop.handler else None
        if loop is None or made is None or _is_folds(file, call, loop, made):
            continue
        if is_handful(file, repetition.seen_runs(file, call.node), made):
            continue
        freed = made.trained is False or not _may_train(file, call, made) or keras.frees_trained(file)
        around = [each.place for each in repetition.repetitions(file, call.node, calls=0)]
        if not any(keras.clears(file, each) or (freed and keras.collects(file, each)) for each in around):
            found.setdefault(loop.place, []).append((call, made))
    for place, models in found.items():
        yield Built(place, sorted(models, key=lambda each: not each[1].trained))


def is_handful(file: File, times: int | None, made: UsedUp) -> bool:
    """Whether a model is certainly made a few times, and little is left of all of them together: of five folds with
    8 MiB each."""
    if made.bytes is None or times is None or times > limits.FEW_STEPS:
        return False
    return made.bytes * times < file.config.min_bytes


def _is_folds(file: File, call: Call, loop: repetition.Repetition, made: UsedUp) -> bool:
    """Whether models of unknown size are made for the folds of one cross validation: a loop takes the parts that
    scikit-learn splits data into, or counts to five at most. Lists of settings are no folds: they grow."""
    times = repetition.seen_runs(file, call.node)
    if made.bytes is not None or times is None or not isinstance(loop.place, cst.For):
        return False
    iterated = [file.call(each) for each in walk(loop.place.iter, cst.Call)]
    if any(each.method == "split" for each in iterated):
        return is_one_validation(times, made)
    return times <= FEW_FOLDS and any(each.name == "builtins.range" for each in iterated)


def is_one_validation(times: int | None, made: UsedUp) -> bool:
    """Whether models of unknown size are made for the few folds of one cross validation, and for nothing else."""
    return made.bytes is None and times is not None and times <= limits.FEW_STEPS


built_in_loops = Fact(_built_in_loops, "for", "while")


def used_up(file: File, call: Call, within: Node) -> UsedUp | None:
    """What becomes of the model that a call in code that runs again makes, if that code uses it and nobody keeps it."""
    if not (call.value.known or call.target.known):
        return None
    if ordering.runs_once(file, call.node, within) or tracing.in_own_graph(file, call.node, within):
        return None
    if ordering.asks_type(file, call.node, within) or ordering.asks_function_of_step(file, call.node, within):
        return None  # the loop goes through things of several kinds, or steps, and builds one for some
    targets = call.target.options
    if any(isinstance(target, Function) and keras.clears(file, target.node) for target in targets):
        return None
    if keras.may_be_loaded(call.value):
        return None  # TFM606, where it is the same each time
    path = keras.model_at(file, call)
    if path is None:
        own = all(keras.trains_own_model(file, t) or keras.makes_own_model(file, call, t, within) for t in targets)
        return UsedUp(True if _fits(file, call) else None) if own else None
    if isinstance(file.tree.parent(call.node), cst.Expr):
        return None  # called for what else it does
    if call.name == "tf.keras.Model" and not _has_new_layers(file, call, within):
        return None  # another view of layers that are there already
    if all(_gives_view(file, target) for target in targets):
        return None
    if path and any(_keeps_network(file, call, target, path[0], within) for target in targets):
        return None  # members of an ensemble: the model trains one of them
    if (call.name or "").startswith(PRETRAINED) and not keras.is_changed(file, call.node):
        return None  # loaded rather than built: TFM606
    return _of_fate(file, call, keras.fate(file, call.node, within, path))


def _gives_view(file: File, target: Value) -> bool:
    """Whether what is called is a function that makes one model, of layers that it is given."""
    function = target.node if isinstance(target, Function) else None
    return function is not None and any(keras.shares_layers(file, call, function) for call in calls(file, function))


def _keeps_network(file: File, call: Call, target: Value, index: int, within: Node) -> bool:
    """Whether what is called gives a network beside the model that is made with it, and that one is kept."""
    if not isinstance(target, Function) or not isinstance(target.node, cst.FunctionDef):
        return False
    applied = {each.func.value for each in walk(target.node, cst.Call) if isinstance(each.func, cst.Name)}
    for value in (node.value for node in file.returns(target.node)):
        given = [each.value for each in value.elements] if isinstance(value, cst.Tuple) else []
        networks = [i for i, each in enumerate(given) if isinstance(each, cst.Name) and each.value in applied]
        if any(i != index and keras.fate(file, call.node, within, (i,)).kept for i in networks):
            return True
    return False


def _of_fate(file: File, call: Call, done: keras.Fate) -> UsedUp | None:
    compiled = any(calls(file, call.node, "tf.keras.Model.compile", through=1))
    if done.kept or not (done.used or done.only_read or compiled):
        return None
    trained = True if _fits(file, call) else done.trained
    if trained and (file.may_be_version_1 or _runs_eagerly(file)):
        trained = None  # the graph that holds its variables can be cleared, or there is none
    made = flow.makers(call.value)
    if trained is False and len(made) == 1 and _is_small(made[0]):
        return None
    return given_up(file, call) if trained else UsedUp(trained)


def given_up(file: File, call: Call) -> UsedUp:
    """What a model leaves that certainly is trained and forgotten."""
    made = flow.makers(call.value)
    known = keras.left_bytes(file, made[0]) if len(made) == 1 else None
    return UsedUp(True, *known) if known is not None else UsedUp(True)


def _is_small(model: Call) -> bool:
    count = keras.parameter_count(model)
    return count is not None and count * FLOAT32 < WORTH_NAMING


def _fits(file: File, call: Call) -> bool:
    return not file.may_be_version_1 and keras.fits(file, call.node)


def _may_train(file: File, call: Call, made: UsedUp) -> bool:
    """Whether the model that a call makes may be trained: False where the call is of functions that use it up
    themselves, and nothing that they run trains."""
    functions = all(isinstance(target, Function) for target in call.target.options)
    if made.trained or not functions or keras.model_at(file, call) is not None:
        return True
    run = list(calls(file, call.node, through=limits.FOLLOWED_CALLS))
    return any(keras.trains(each) or each.method in STEPS for each in run)


@once_per_file
def _runs_eagerly(file: File) -> bool:
    return any(each.value_of("run_eagerly") == Const(True) for each in file.calls("tf.keras.Model.compile"))


def _has_new_layers(file: File, made: Call, within: Node) -> bool:
    """Whether the code makes layers for a functional model, or trains it."""
    return keras.makes_layers(file, within, besides=made) or any(keras.trains(call) for call in calls(file, within))


def words_for(file: File, made: UsedUp, run: str) -> str:
    """What happens to a model that each `run` makes, and what to do."""
    each = f" ({made.words} each)" if made.bytes is not None and made.bytes >= WORTH_NAMING else ""
    if made.trained and keras.frees_trained(file):
        return (
            f"a model trained in each {run} stays in memory until the garbage collector runs{each}, also after "
            f"clear_session(); call gc.collect() in each {run}"
        )
    if made.trained:
        return (
            f"a model trained in each {run} stays in memory until the process ends{each}, also after clear_session(); "
            "set one model's weights and optimizer variables back, or use a process for each trial"
        )
    if made.trained is False:
        return f"a model built in each {run} stays in memory until the garbage collector runs; clear the session first"
    return (
        f"a model built in each {run} leaves the earlier ones in memory; clear_session() frees those that were never "
        "trained, for others set one model's weights and optimizer variables back or use a process for each trial"
    )
