from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import File, Finding, Fix, Rule, Safety, facts, fixes, flow, on, show_bytes, tracing


class ArrayBakedIntoTrace(Rule):
    """
    ## What it does
    Reports large NumPy arrays that a traced function or a `Dataset.map` function reads from outside.

    ## Why it costs memory
    The array becomes a constant of the graph: it is serialized, copied several times while the graph is optimized, and
    once more for every further trace. Over 2 GiB it raises `ValueError`.

    ## Fix safety
    Unsafe: the name is a tensor then, on the device.

    ## When not to use it
    When the function must have the constant in its graph, for export. Where a module has all functions run eagerly,
    nothing is reported but what a pipeline maps.

    ## References
    - https://www.tensorflow.org/guide/function
    """

    code = "TFM505"
    summary = "a NumPy array read in traced code becomes a constant of every graph"
    worth_in_bytes = False  # each trace has a copy of its own
    fix_safety = (Safety.UNSAFE,)

    @on(facts.traced_functions)
    def check(self, function: cst.FunctionDef | cst.Lambda, file: File) -> Iterator[Finding]:
        if tracing.runs_eagerly(file, function.body):
            return
        for capture in flow.captured_arrays(file, function):
            size, made = capture.array.bytes, capture.made
            if size is not None and size >= file.config.min_bytes:
                yield self.finding(
                    capture.node,
                    file,
                    f"this array of {show_bytes(size)} becomes a constant of the graph, once for every trace; make it "
                    "a tensor outside",
                    fix=Fix.unsafe(
                        "make it a tensor", fixes.convert_after(file, made, "tf.constant") if made else None
                    ),
                    related=[(made, "made here")] if made is not None else [],
                    bytes=size,
                )
