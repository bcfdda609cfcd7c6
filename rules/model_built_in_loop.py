from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Class,
    File,
    Finding,
    Fix,
    Function,
    Instance,
    Node,
    Rule,
    Safety,
    Value,
    calls,
    fixes,
    keras,
    limits,
    on,
    ordering,
    repetition,
)

CLEAR = "tf.keras.backend.clear_session"
PRETRAINED = "tf.keras.applications."
TRAINS = ("fit", "compile", "fit_generator", "train_on_batch")
LAYERS = ("tf.keras.layers.", PRETRAINED, "tf.keras.Sequential")


class ModelBuiltInLoop(Rule):
    """
    ## What it does
    Reports Keras models that are built again in each iteration of a loop (trials, folds, configurations), by a
    constructor or a function of the module, with no `clear_session()` in the loop or the function.

    ## Why it costs memory
    Keras keeps global state for every layer and model that is made, and the models of earlier iterations are held by
    reference cycles until the garbage collector runs. `clear_session()` drops that. It is not enough for models that
    were trained: on TensorFlow 2.11 to 2.21 the variables and optimizer slots of a trained model stay in a global
    registry until the process ends. One process for each trial, or one model whose weights are reset, is the sure way.

    ## Fix safety
    Unsafe: automatic layer names start again, models kept from before must not be used, and Keras 3 forgets a dtype
    policy that was set before the loop.

    ## When not to use it
    When all models are kept on purpose, for an ensemble; models that are stored are not reported.

    ## References
    - https://keras.io/api/utils/config_utils/#clear_session-function
    """

    code = "TFM601"
    summary = "a Keras model built in a loop leaves its predecessors in memory"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(repetition.repeated_calls)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        loop = repetition.repeats(file, call.node, calls=0, beyond=limits.FEW_RUNS)
        if loop is None or loop.handler or not _uses_up_a_model(file, call, loop.place):
            return
        if not any(keras.clears(file, each.place) for each in repetition.repetitions(file, call.node, calls=0)):
            yield self._report(file, call, loop)

    def _report(self, file: File, call: Call, loop: repetition.Repetition) -> Finding:
        spelled = fixes.api_text(file, CLEAR)
        spoils = call.name == "tf.keras.models.clone_model"  # clearing would take what is cloned
        clear = None
        if isinstance(loop.place, (cst.For, cst.While)) and spelled is not None and not spoils:
            clear = fixes.insert_first(file, loop.place, f"{spelled}()")
        return self.finding(
            call,
            file,
            "a model built in each iteration leaves the earlier ones in memory; clear_session() frees what was not "
            "trained, for trained models use one process a trial or reset one model's weights",
            fix=Fix.unsafe("clear the session first in each iteration", clear),
            related=[(loop.place, "the loop")],
        )


def _uses_up_a_model(file: File, call: Call, loop: Node) -> bool:
    """Whether the call makes a model that this iteration uses and nobody keeps."""
    if (
        not (call.value.known or call.target.known)
        or ordering.runs_once(file, call.node, loop)
        or _own_graph(file, call, loop)
    ):
        return False
    if any(keras.clears(file, t.node) for t in call.target.options if isinstance(t, Function)) or _loads(call):
        return False
    path, dropped = keras.model_at(file, call), isinstance(file.tree.parent(call.node), cst.Expr)
    if path is None:
        return all(_trains_one(file, t) or _is_forgotten(file, t, call, loop) for t in call.target.options)
    if dropped:
        return False  # called for what else it does
    if call.name == "tf.keras.Model" and not _has_new_layers(file, call, loop):
        return False  # another view of layers that are there already
    if (call.name or "").startswith(PRETRAINED) and not keras.is_changed(file, call.node):
        return False  # loaded rather than built: TFM606
    done = keras.fate(file, call.node, loop, path)
    if done.kept:
        return False
    return done.trained or done.only_read or _compiles(file, call)


def _compiles(file: File, call: Call) -> bool:
    """Whether the factory compiles what it makes."""
    return any(True for _ in calls(file, call.node, "tf.keras.Model.compile", through=1))


def _loads(call: Call) -> bool:
    """Whether the model may be read from a file: TFM606, where it is the same each time."""
    made = (option.call for option in call.value.options if isinstance(option, Instance))
    return any(each is not None and each.name in keras.MODEL_LOADS for each in made)


def _own_graph(file: File, call: Call, loop: Node) -> bool:
    """Whether each iteration makes what it makes in a graph of its own."""
    blocks = (block for block in file.contexts.withs(call.node) if file.tree.contains(loop, block))
    return any("Graph" in file.text(item.item) for block in blocks for item in block.items)


def _has_new_layers(file: File, made: Call, loop: Node) -> bool:
    """Whether the loop makes layers for a functional model, itself or by functions of the module, or trains it."""
    others = [call for call in calls(file, loop) if call is not made]
    own = any(isinstance(t, (Function, Class)) for call in others for t in call.target.options)
    names = (name for call in others for name in call.names if name.rpartition(".")[2][:1].isupper())
    return own or any(call.method in TRAINS for call in others) or any(name.startswith(LAYERS) for name in names)


def _trains_one(file: File, target: Value) -> bool:
    """Whether what is called is a function that builds a model, trains it and gives it to nobody."""
    if not isinstance(target, Function):
        return False
    for made in calls(file, target.node):
        path = keras.model_at(file, made)
        if path is not None and not ordering.runs_once(file, made.node, target.node):
            done = keras.fate(file, made.node, target.node, path)
            if done.trained and not done.kept:
                return True
    return False


def _is_forgotten(file: File, target: Value, call: Call, loop: Node) -> bool:
    """Whether what is called is a class whose object makes a model for itself, is used and forgotten."""
    if not isinstance(target, Class) or isinstance(file.tree.parent(call.node), cst.Expr):
        return False
    done = keras.fate(file, call.node, loop)
    making = (made for made in calls(file, call.node, through=1) if made is not call)
    return done.only_read and not done.kept and any(keras.model_at(file, made) is not None for made in making)
