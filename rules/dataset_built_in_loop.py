from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._once import builds_model, made_once, other_world, retries, stored

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Fix,
    Loop,
    Node,
    Rule,
    Safety,
    draws_itself,
    hoist,
    knowledge,
    loops_left,
    on_call,
    own_nodes,
    passes_unchanging,
    pipeline_parts,
    unchanging,
)

FEW = 3
"""Iterations of a loop over literals up to which a pipeline may be built in each."""


class DatasetBuiltInLoop(Rule):
    """
    ## What it does
    Reports a source of a pipeline (`from_tensor_slices`, `TFRecordDataset`, ...) inside the loop over epochs or steps,
    where nothing that it is made of changes with the loop. A function that makes one and is called in the loop counts,
    and so do iterators of one pipeline that are kept for each iteration.

    ## Why it costs memory
    Each pipeline copies its arrays again and fills its buffers again, while the one before is still alive. Pipelines
    from `from_generator` are never freed as a whole: their Python functions stay registered until the process ends,
    with all that they refer to.

    ## Fix safety
    Unsafe: with global seeds a pipeline that is built anew draws other numbers than one that is started anew.

    ## When not to use it
    When the data behind the same names changes in the loop in a way that the code does not show.

    ## References
    - https://www.tensorflow.org/guide/data#basic_mechanics
    """

    code = "TFM312"
    summary = "a pipeline built in each iteration copies its data and fills its buffers again"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*sorted(knowledge.group("makes_pipeline")))
    def check(self, source: Call, file: File) -> Iterator[Finding]:
        if file.contexts.mapped(source.node) or file.contexts.traced(source.node):
            return
        place, loop = self._loop(source, file)
        if place is None or loop is None:
            return
        related: list[tuple[Call | Node, str]] = [(loop, "built again in each iteration")]
        if place is not source:
            related.insert(0, (place, "called in the loop"))
        leak = ", and its Python function is never freed" if source.name == "tf.data.Dataset.from_generator" else ""
        yield self.finding(
            source,
            file,
            "this pipeline is built again in each iteration: it copies its data and fills its buffers "
            f"anew{leak}; build it once",
            fix=self._hoist(source, loop, file) if place is source else None,
            related=related,
        )

    def _hoist(self, source: Call, loop: Loop, file: File) -> Fix | None:
        parts = pipeline_parts(file, source, loop, derived=False)
        assigned = all(isinstance(file.tree.parent(part), cst.Assign) for part in parts)
        fix = hoist(file, [file.tree.statement(part) for part in parts], "build it once") if assigned else None
        left = loops_left(file, fix, source.node) if fix is not None else []
        return None if any(self._again(source, outer, file) for outer in left) else fix

    @on_call("builtins.iter")
    def kept(self, call: Call, file: File) -> Iterator[Finding]:
        loop, given = file.contexts.loop(call.node), call.arg(0)
        if loop is None or given is None or not stored(call.node, loop, file):
            return
        pipeline = all(isinstance(option, Dataset) for option in given.value.options)
        if pipeline and unchanging(file, [given.expression], loop) and self._again(call, loop, file):
            yield self.finding(
                call,
                file,
                "an iterator of the same pipeline is kept in each iteration, and each holds the pipeline's buffers; "
                "make one",
                related=[(loop, "made again in each iteration")],
            )

    def _loop(self, source: Call, file: File) -> tuple[Call | None, cst.For | cst.While | None]:
        """The call in a loop that builds the pipeline each time, the same each time, and that loop."""
        for loop in file.contexts.loops(source.node):
            parts = pipeline_parts(file, source, loop)
            if not unchanging(file, parts, loop):
                return None, None
            if self._again(source, loop, file):
                return source, loop
        function = file.contexts.function(source.node)
        if not isinstance(function, cst.FunctionDef) or any(own_nodes(function, cst.Yield)):
            return None, None
        if function.name.value == "__init__" or made_once(source.node, function, file):
            return None, None
        parts = pipeline_parts(file, source, function)
        if draws_itself(file, function) or not unchanging(file, parts, function):
            return None, None
        for caller in file.values.functions.callers(function) or ():
            whole = self._returns(caller)
            if not whole and builds_model(function, file):
                continue
            for loop in file.contexts.loops(caller.node):
                if not passes_unchanging(file, caller, function, loop, parts, whole=whole):
                    break
                if self._again(caller, loop, file):
                    return caller, loop
        return None, None

    def _again(self, call: Call, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the loop runs the call many times, in the same graph and with the same seed."""
        count = file.contexts.literal_count(loop)
        if (count is not None and count <= FEW) or retries(loop):
            return False
        return not made_once(call.node, loop, file) and not other_world(call.node, loop, file)

    def _returns(self, caller: Call) -> bool:
        """Whether what the called function gives is the pipeline, or several."""
        values = caller.value.options
        return all(
            isinstance(v, Dataset) or any(isinstance(i, Dataset) for i in getattr(v, "items", ())) for v in values
        )
