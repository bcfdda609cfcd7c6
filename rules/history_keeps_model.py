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
    Instance,
    Node,
    Rule,
    Safety,
    Use,
    dotted,
    fixes,
    flow,
    home_of,
    keras,
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
    and optimizer slots. The numbers are in its `.history` dictionary.

    ## Fix safety
    Safe where only `.history` is read from what is stored, which the fix rewrites too; otherwise it is not offered.

    ## When not to use it
    When there is one model for all calls of `fit`; then it is not reported.

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
            if stored.does is Does.STORE and _grows(file, stored) and _keeps_models(file, fit, stored):
                yield self.finding(
                    flow.storing_code(file, stored),
                    file,
                    "each stored History keeps its model alive, with weights and optimizer slots; store its .history",
                    fix=Fix.safe("store the numbers", _store_numbers(file, stored)),
                    related=[(fit, "the History comes from here")],
                )


def _grows(file: File, stored: Use) -> bool:
    """Whether a History goes into a container, beside others."""
    target = stored.place if stored.place is not None and flow.is_assigned(file, stored.place) else None
    return target is None or (isinstance(target, cst.Subscript) and dotted(target) is None)


def _keeps_models(file: File, fit: Call, stored: Use) -> bool:
    """Whether what stores the History again and again makes a model anew each time that nothing else keeps."""
    again = repetition.repeats(file, stored.node)
    made = [o.call for o in fit.receiver.options if isinstance(o, Instance) and o.call is not None]
    if again is None or len(made) < len(fit.receiver.options) or not keras.is_model(file, fit.receiver):
        return False
    container = _container(file, stored)
    if container is not None and not flow.collects(file, container, again):
        return False
    return all(_used_up(file, call, again) for call in made)


def _used_up(file: File, made: Call, again: repetition.Repetition) -> bool:
    """Whether each iteration makes the model, itself or by a function that it calls, and keeps it nowhere else."""
    building = next((each for each in repetition.repetitions(file, made.node) if each.place is again.place), None)
    if building is None:
        return False
    given = building.inside  # the call that gives the model to the loop, or one that uses it up
    return not keras.is_model(file, file.value(given)) or not keras.fate(file, given, again.place).kept


def _store_numbers(file: File, stored: Use) -> list[Edit] | None:
    """Store `.history`, and drop it where items of the container are read; None where more of them is used."""
    container = stored.place if isinstance(stored.place, cst.BaseComp) else _bound(file, _container(file, stored))
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


def _container(file: File, stored: Use) -> cst.BaseExpression | None:
    """The container that is there already; None for a comprehension, which makes one."""
    place = stored.place
    if isinstance(place, cst.Subscript) and flow.is_assigned(file, place):
        place = place.value
    return place if isinstance(place, cst.BaseExpression) and not isinstance(place, cst.BaseComp) else None


def _bound(file: File, container: cst.BaseExpression | None) -> Node | None:
    """The one place that makes the container of this name."""
    if not isinstance(container, cst.Name):
        return None
    found = file.flow(home_of(container, file)).bindings.get(container.value, ())
    return found[0].node if len(found) == 1 else None
