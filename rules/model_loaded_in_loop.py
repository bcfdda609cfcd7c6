from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._model_loaded_in_loop import is_kept, needs_fresh

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, keras, limits, on, repetition


class ModelLoadedInLoop(Rule):
    """
    ## What it does
    Reports models that are loaded in a loop, or in a request handler, with arguments that are the same each time.

    ## Why it costs memory
    Every load builds the model anew, reads its weights and, compiled, its optimizer's slots. Earlier copies stay until
    the garbage collector runs, their graphs longer.

    ## Fix safety
    Unsafe: the loop shares one model, whose state carries over.

    ## When not to use it
    When the file changes between the iterations. Loops that also save a model or put each in a list are not reported,
    nor those that train the one that is loaded; another one may be trained there.

    ## References
    - https://keras.io/api/models/model_saving_apis/model_saving_and_loading/
    """

    code = "TFM606"
    summary = "a model loaded in a loop is built again in each iteration"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(keras.model_loads)
    def check(self, load: Call, file: File) -> Iterator[Finding]:
        found = _in_vain(file, load)
        place = found.in_file if found is not None else None
        if found is not None and isinstance(place, cst.Call):
            called = found.calls and found.inside is not place
            when = "for each request" if found.handler else "in each call" if called else "in each iteration"
            own = file.is_own(load.node)
            yield self.finding(
                file.call(place),
                file,
                f"this model is built and its weights are read again {when}; load it once",
                fix=_hoist(file, load, found) if own else None,
                related=[(found.place, "runs again"), *([] if own else [(load, "loaded here")])],
            )

    @on(repetition.imported_calls(*keras.model_loads.names))
    def imported(self, call: Call, file: File) -> Iterator[Finding]:
        if keras.loads_model(call):
            yield from self.check(call, file)


def _in_vain(file: File, load: Call) -> repetition.Repetition | None:
    """What runs the call again, although the same model comes of it each time and is forgotten."""
    for found in repetition.repetitions(file, load.node):
        if found.few(limits.FEW_RUNS):
            continue
        if repetition.same_arguments(file, load, found) and not is_kept(file, load, found):
            if not needs_fresh(file, load, found):
                return found
        if not found.calls:
            break  # it does need the model anew, and so does what calls its function
    return None


def _hoist(file: File, load: Call, found: repetition.Repetition) -> Fix | None:
    assigned = isinstance(file.tree.parent(load.node), cst.Assign)
    if not assigned or found.calls or not isinstance(found.place, (cst.For, cst.While)):
        return None
    if any(each.calls and not each.few(limits.FEW_RUNS) for each in repetition.repetitions(file, load.node)):
        return None  # the function would still load it each time that it is called
    fix = fixes.hoist(file, [file.tree.statement(load.node)], "load it before the loop")
    left = fixes.loops_left(file, fix, load.node) if fix is not None else []
    around = {each.place: each for each in repetition.repetitions(file, load.node, calls=0)}
    return fix if all(around[outer].few(limits.FEW_RUNS) for outer in left) else None
