from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Function,
    Node,
    Rule,
    Safety,
    calls,
    fixes,
    keras,
    limits,
    on,
    ordering,
    repetition,
    tracing,
)

CLEAR = "tf.keras.backend.clear_session"
PRETRAINED = "tf.keras.applications."


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
    if not (call.value.known or call.target.known):
        return False
    if ordering.runs_once(file, call.node, loop) or tracing.in_own_graph(file, call.node, loop):
        return False
    targets = call.target.options
    if any(isinstance(target, Function) and keras.clears(file, target.node) for target in targets):
        return False
    if keras.may_be_loaded(call.value):
        return False  # TFM606, where it is the same each time
    path = keras.model_at(file, call)
    if path is None:
        return all(keras.trains_own_model(file, t) or keras.makes_own_model(file, call, t, loop) for t in targets)
    if isinstance(file.tree.parent(call.node), cst.Expr):
        return False  # called for what else it does
    if call.name == "tf.keras.Model" and not _has_new_layers(file, call, loop):
        return False  # another view of layers that are there already
    if (call.name or "").startswith(PRETRAINED) and not keras.is_changed(file, call.node):
        return False  # loaded rather than built: TFM606
    done = keras.fate(file, call.node, loop, path)
    compiled = any(calls(file, call.node, "tf.keras.Model.compile", through=1))
    return not done.kept and (done.trained or done.only_read or compiled)


def _has_new_layers(file: File, made: Call, loop: Node) -> bool:
    """Whether the loop makes layers for a functional model, or trains it."""
    return keras.makes_layers(file, loop, besides=made) or any(keras.trains(call) for call in calls(file, loop))
