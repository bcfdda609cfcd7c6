from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._model_built_in_loop import Built, built_in_loops, is_handful, is_one_validation, words_for

from tfmemlint.api import (
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    Shows,
    calls,
    fixes,
    keras,
    on,
)

CLEAR = "tf.keras.backend.clear_session"


class ModelBuiltInLoop(Rule):
    """
    ## What it does
    Reports Keras models that are built again in each iteration of a loop (trials, folds, configurations) or in each
    trial of a search (Optuna, Hyperopt, scikit-optimize, scikit-learn's searches over a wrapped Keras model), by a
    constructor or a function of the module, with no `clear_session()` in the loop, the trial or the function. A loop
    that builds several is reported once.

    ## Why it costs memory
    Models are reference cycles: those of earlier iterations stay until the garbage collector runs, which
    `clear_session()` has it do. For models that `fit` trained that is not enough: on TensorFlow 2.11 to 2.21 the graphs
    that train them hold weights and optimizer slots until the process ends, with `clear_session()` and `gc.collect()`,
    too; on 2.4 to 2.10, where a project requires that, `gc.collect()` frees them. Memory stays level where the model is
    built and compiled once, and its weights and the variables of its optimizer are set back before each trial (not
    compiled again: the optimizer of each `compile` stays). Where layers differ from trial to trial, give each trial a
    process of its own.

    The message names what each model leaves from 1 MiB on: less is lost beside the graphs that stay as well, some
    7 MiB for each small model on TensorFlow 2.21. Smaller models that are never trained are not reported, nor up to ten
    trials that are known to leave less than `min-bytes` together, nor the folds of one cross validation, up to ten,
    with models of unknown size.

    ## Fix safety
    Unsafe, and for models that are never trained: automatic layer names start again, models kept from before must not
    be used, and Keras 3 forgets a dtype policy that was set before the loop.

    ## When not to use it
    When all models are kept on purpose, for an ensemble; models that are stored or added to a `Sequential`, and those
    whose layers become parts of something else, are not reported, nor what is built in those steps of a loop that a
    function of the step's number chooses, or again only after an error. KerasTuner clears the session itself, and
    `gc.collect()` frees models that were never trained.

    ## References
    - https://keras.io/api/utils/config_utils/#clear_session-function
    """

    code = "TFM601"
    summary = "a Keras model built in a loop leaves its predecessors in memory"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(built_in_loops)
    def check(self, built: Built, file: File) -> Iterator[Finding]:
        (call, made), *others = built.models
        untrained = all(each.trained is False for _, each in built.models)
        yield self.finding(
            call,
            file,
            words_for(file, made, "iteration"),
            fix=Fix.unsafe("clear the session first in each iteration", _clear_first(file, call, built.loop))
            if untrained
            else None,
            shows=_shows(file, made),
            related=[(built.loop, "the loop"), *((other, "this builds one, too") for other, _ in others)],
        )

    @on(keras.trials)
    def trial(self, trial: keras.Trial, file: File) -> Iterator[Finding]:
        if keras.trial_clears(file, trial):
            return
        if trial.gives_model:
            given = keras.given_back(file, trial)
            found = [(given, keras.given_up(file, given))] if given is not None else []
        else:
            each = ((call, keras.used_up(file, call, trial.function.body)) for call in calls(file, trial.function))
            found = [(call, made) for call, made in each if made is not None]
        times = keras.trial_count(file, trial.search)
        for call, made in found[:1]:
            if is_handful(file, times, made) or (trial.gives_model and is_one_validation(times, made)):
                continue
            words, search = words_for(file, made, "trial"), (trial.search, "the search")
            yield self.finding(call, file, words, related=[search], shows=_shows(file, made))


def _shows(file: File, made: keras.UsedUp) -> Shows | None:
    """Of models that were trained, that they grow though the collector runs; the others are garbage."""
    return Shows(metric="live_slope", survives=True) if made.trained and not keras.frees_trained(file) else None


def _clear_first(file: File, call: Call, loop: Node) -> Edit | None:
    spelled = fixes.api_text(file, CLEAR)
    if not isinstance(loop, (cst.For, cst.While)) or spelled is None or call.name == "tf.keras.models.clone_model":
        return None  # clearing would take what is cloned
    return fixes.insert_first(file, loop, f"{spelled}()")
