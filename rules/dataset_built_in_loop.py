from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Does,
    File,
    Finding,
    Fix,
    Loop,
    Node,
    Rule,
    Safety,
    Shows,
    assigned_names,
    at_most,
    fixes,
    knowledge,
    on,
    on_call,
    pipelines,
    repetition,
    uses,
    variables,
)


class DatasetBuiltInLoop(Rule):
    """
    ## What it does
    Reports a source of a pipeline (`from_tensor_slices`, `TFRecordDataset`, ...) inside the loop over epochs or steps,
    where nothing that it is made of changes with the loop. A function that makes one and is called in the loop counts,
    up to three functions deep, and so do iterators of one pipeline that are kept for each iteration.

    ## Why it costs memory
    Each pipeline copies its arrays again and fills its buffers again, while the one before is still alive. Pipelines
    from `from_generator` are never freed as a whole: their Python functions stay registered until the process ends,
    with all that they refer to.

    ## Fix safety
    Unsafe: with global seeds a pipeline that is built anew draws other numbers than one that is started anew.

    ## When not to use it
    When the data behind the same names changes in the loop in a way that the code does not show. Data that is known to
    take no more than `least-cost` is not reported.

    ## References
    - https://www.tensorflow.org/guide/data#basic_mechanics
    """

    code = "TFM312"
    summary = "a pipeline built in each iteration copies its data and fills its buffers again"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*sorted(knowledge.group("makes_pipeline")))
    @on(repetition.imported_calls(*sorted(knowledge.group("makes_pipeline"))))
    def check(self, source: Call, file: File) -> Iterator[Finding]:
        if file.contexts.mapped(source.node) or file.contexts.traced(source.node):
            return
        size = pipelines.all_bytes(pipelines.pipelines_of(source.value))
        if at_most(size, file.config.least_cost):
            return
        found = repetition.rebuilt(file, source)
        if found is None:
            return
        direct, place = found.place is source, source if file.is_own(source.node) else found.place
        if not file.is_own(place.node):
            return
        related: list[tuple[Call | Node, str]] = [] if direct else [(found.place, "called in the loop")]
        if place is not source:
            related = [(source, "built here")]
        related += [(other, "called in a loop, too") for other in found.others if file.is_own(other.node)]
        fix = self._hoist(source, found.loop, file) if direct else None
        generator = source.name == "tf.data.Dataset.from_generator"
        leak = ", and its Python function is never freed" if generator else ""
        yield self.finding(
            place,
            file,
            "this pipeline is built again in each iteration: it copies its data and fills its buffers "
            f"anew{leak}; build it once",
            fix=fix,
            related=[*related, (found.loop, "built again in each iteration")],
            shows=None if fix is not None else Shows(metric="functions" if generator else "made_anew"),
        )

    def _hoist(self, source: Call, loop: Loop, file: File) -> Fix | None:
        parts = pipelines.pipeline_parts(file, source, loop, derived=False)
        assigned = all(isinstance(file.tree.parent(part), cst.Assign) for part in parts)
        fix = fixes.hoist(file, [file.tree.statement(part) for part in parts], "build it once") if assigned else None
        left = fixes.loops_left(file, fix, source.node) if fix is not None else []
        return None if any(repetition.runs_alike(file, source, outer) for outer in left) else fix

    @on_call("builtins.iter")
    def kept(self, call: Call, file: File) -> Iterator[Finding]:
        loop, given = file.contexts.loop(call.node), call.arg(0)
        if loop is None or given is None or not pipelines.pipelines_of(given.value) or not self._kept(call, loop, file):
            return
        if repetition.unchanging(file, [given.expression], loop) and repetition.runs_alike(file, call, loop):
            yield self.finding(
                call,
                file,
                "an iterator of the same pipeline is kept in each iteration, and each holds the pipeline's buffers; "
                "make one",
                related=[(loop, "made again in each iteration")],
            )

    def _kept(self, call: Call, loop: Loop, file: File) -> bool:
        """Whether the loop puts what a call gives into a container that is older than it, beside the others."""
        stores = [use for use in uses(file, call.node) if use.does is Does.STORE and use.place is not None]
        owners = [use.place.value if isinstance(use.place, cst.Subscript) else use.place for use in stores
                  if use.word or isinstance(use.place, cst.Subscript)]  # fmt: skip
        bound = assigned_names(file, loop)
        return any(owner is not None and not bound & variables(file, owner) for owner in owners)
