from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Api,
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    fixes,
    on,
    runtime,
)


class ForkAfterInit(Rule):
    """
    ## What it does
    Reports processes that are forked after TensorFlow's runtime has certainly been initialised.

    ## Why it costs memory
    A forked child inherits the runtime's locks but not its threads: its first op hangs, and on a GPU its CUDA context
    is broken. Hanging children keep their copies of the parent's memory.

    ## Fix safety
    Unsafe: spawned processes import the main module again and take their arguments by pickle.

    ## When not to use it
    When the children never touch TensorFlow. Processes and pools whose functions are seen to call nothing but Python's
    own, NumPy, tables, files, pictures and `tf.train.Example`s are not reported.

    ## References
    - https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    """

    code = "TFM112"
    summary = "processes forked after the runtime is initialised hang at their first op"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on(runtime.forks)
    def check(self, start: Call, file: File) -> Iterator[Finding]:
        starter = runtime.initialised_by(file, start.node)
        if starter is not None and not runtime.runs_no_op(file, start):
            what = starter.method or "what is called"
            yield self.finding(
                start,
                file,
                f"{what} has initialised the runtime: a process forked from here hangs at its first op; spawn it",
                fix=_spawn(file, start),
                related=[(starter, "initialises the runtime")],
            )


def _spawn(file: File, start: Call) -> Fix | None:
    """Ask for a context that spawns, or change the one that there is."""
    receiver = start.receiver_node
    if receiver is None or file.value(receiver) != Api("multiprocessing") or start.method not in ("Pool", "Process"):
        return None
    made = [definition.value for definition in file.definitions(receiver)] if isinstance(receiver, cst.Name) else []
    for context in file.calls("multiprocessing.get_context"):
        method = context.arg(0)
        if method is not None and any(value is context.node for value in made):
            return Fix.unsafe("spawn the processes", fixes.replace_node(file, method.expression, '"spawn"'))
    end = file.span(receiver).end
    return Fix.unsafe("spawn the processes", Edit(end, end, '.get_context("spawn")'))
