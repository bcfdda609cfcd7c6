from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Shows,
    fixes,
    names_any,
    on,
    repetition,
    tracing,
    variables,
    walk,
)

MANY = 100


class PythonLoopUnrolled(Rule):
    """
    ## What it does
    Reports Python loops of 100 or more iterations, or over a NumPy array, in traced code.

    ## Why it costs memory
    The loop runs while the function is traced, and every iteration adds its ops to the graph. A `tf.range` loop adds
    them once.

    ## Fix safety
    Unsafe: the loop variable is a tensor then, and variables must keep their shapes.

    ## When not to use it
    For loops over layers or heads, whose bodies differ; short ones are not reported.

    ## References
    - https://www.tensorflow.org/guide/function#loops
    """

    code = "TFM510"
    summary = "a long Python loop in traced code is unrolled into the graph"
    fix_safety = (Safety.UNSAFE,)

    @on(tracing.unrolled_loops)
    def check(self, run: repetition.Repetition, file: File) -> Iterator[Finding]:
        if _many(run) and _grows_graph(file, run):
            what = f"all {run.count} iterations" if run.count is not None else "one iteration for each row of the array"
            yield self.finding(
                run.place,
                file,
                f"this loop is unrolled while it is traced: the graph gets {what}",
                fix=Fix.unsafe("let TensorFlow loop", _range(file, run)),
                shows=Shows(metric="nodes", count=run.count or MANY),
            )


def _many(run: repetition.Repetition) -> bool:
    """Whether there are many iterations, by their number or because they go over the rows of an array."""
    if run.count is not None:
        return run.count >= MANY
    return isinstance(run.over, Array) and not _takes_places(run)


def _takes_places(run: repetition.Repetition) -> bool:
    """Whether the items of a loop are places in something, as the numbers of columns are, and no rows."""
    indices = (index for taken in walk(run.place, cst.Subscript) for index in taken.slice)
    return any(names_any(index, run.items) for index in indices)


def _grows_graph(file: File, run: repetition.Repetition) -> bool:
    """Whether each iteration adds the same ops to the graph, and none of them is left out."""
    loop = run.place
    if isinstance(loop, (cst.For, cst.While)):
        if any(walk(loop.body, cst.Break)) or tracing.chooses_parts(file, run, loop):
            return False
        return tracing.computes_tensors(file, loop)
    return isinstance(loop, (cst.ListComp, cst.GeneratorExp)) and tracing.holds_tensor(file, loop.elt)


def _range(file: File, run: repetition.Repetition) -> Edit | None:
    """`tf.range` for `range`, where the loop variable may become a tensor: with a dtype, and no index of a list."""
    loop, spelled = run.place, fixes.api_text(file, "tf.range")
    if spelled is None or not isinstance(loop, cst.For) or not isinstance(loop.iter, cst.Call):
        return None
    if file.call(loop.iter).name != "builtins.range":
        return None
    if tracing.collects_items(file, loop) or run.items & variables(file, loop.body):
        return None
    return fixes.replace_node(file, loop.iter.func, spelled)
