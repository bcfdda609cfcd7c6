from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Does,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Use,
    fixes,
    flow,
    keras,
    limits,
    on_call,
    repetition,
    uses,
)

VIEWS = ("items", "values")


class HistoryKeepsModel(Rule):
    """
    ## What it does
    Reports `History` objects of `fit` that are stored in a list or dictionary in a loop over trials.

    ## Why it costs memory
    A `History` is a callback and refers to its model: a list of them keeps every model of the loop alive, with weights
    and optimizer slots. The numbers are in its `.history` dictionary. Storing these lets go of models that were trained
    eagerly; on TensorFlow 2.11 to 2.21 those that `fit` trained in a graph stay until the process ends anyway (TFM601).

    ## Fix safety
    Safe where only `.history` is read from what is stored, which the fix rewrites too; otherwise it is not offered.

    ## When not to use it
    When there is one model for all calls of `fit`; then it is not reported. Nor are up to ten models that are known to
    take less than `min-bytes` together.

    ## References
    - https://keras.io/api/models/model_training_apis/#fit-method
    """

    code = "TFM612"
    summary = "a stored History keeps its model alive"
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on_call("tf.keras.Model.fit")
    def check(self, fit: Call, file: File) -> Iterator[Finding]:
        for stored in uses(file, fit.node, containers=True, returned=True):
            if stored.does is Does.STORE and _keeps_models(file, fit, stored):
                yield self.finding(
                    flow.storing_code(file, stored),
                    file,
                    "each stored History keeps its model alive, with weights and optimizer slots; store its .history",
                    fix=Fix.safe("store the numbers", _store_numbers(file, stored)),
                    related=[(fit, "the History comes from here")],
                )


def _keeps_models(file: File, fit: Call, stored: Use) -> bool:
    """Whether Histories are collected by what makes a model anew each time that nothing else keeps."""
    again, made = repetition.repeats(file, stored.node), flow.makers(fit.receiver)
    if again is None or not flow.stands_beside_others(file, stored):
        return False
    if len(made) < len(fit.receiver.options) or not keras.is_model(file, fit.receiver):
        return False
    container = flow.container_of(file, stored)
    if container is not None and not flow.collects(file, container, again):
        return False
    return all(keras.is_used_up(file, call, again) for call in made) and not _are_small(file, made, stored)


def _are_small(file: File, made: list[Call], stored: Use) -> bool:
    """Whether all models that a few runs keep are certainly little together."""
    known, times = [keras.left_bytes(file, call) for call in made], repetition.seen_runs(file, stored.node)
    if times is None or times > limits.FEW_STEPS or None in known:
        return False
    return times * max(size for size, _ in filter(None, known)) < file.config.min_bytes


def _store_numbers(file: File, stored: Use) -> list[Edit] | None:
    """Store `.history`, and drop it where items of the container are read; None where more of them is used."""
    container = flow.only_binding(file, flow.container_of(file, stored))
    if isinstance(stored.place, cst.BaseComp):
        container = stored.place
    if stored.held or container is None:
        return None
    edits = [fixes.append_method(file, stored.node, ".history")]
    storing = file.tree.statement(stored.node)
    for use in uses(file, container, parts=True):
        if use.part and use.does is Does.READ and use.word == "history" and use.place is not None:
            edits.append(Edit(file.span(use.node).end, file.span(use.place).end, ""))
        elif not file.tree.contains(storing, use.node) and use.word not in VIEWS:
            return None
    return edits
