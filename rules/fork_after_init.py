from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Api, Call, Const, Edit, File, Finding, Fix, Rule, Safety, Severity, on_call, replace_node
from tfmemlint.query.runtime import INITIALISED, initialisation

FORKS = (
    "multiprocessing.Pool", "multiprocessing.Process", "multiprocessing.pool.Pool",
    "concurrent.futures.ProcessPoolExecutor", "os.fork",
)  # fmt: skip


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
    When the children never touch TensorFlow.

    ## References
    - https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    """

    code = "TFM112"
    summary = "processes forked after the runtime is initialised hang at their first op"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on_call(*FORKS)
    def check(self, start: Call, file: File) -> Iterator[Finding]:
        if self._chosen(start, file):
            return
        first = initialisation(file).before(start.node, INITIALISED)
        if first is None or not first.certain or not isinstance(first.node, cst.Call):
            return
        starter = file.call(first.node)
        yield self.finding(
            start,
            file,
            f"{starter.method} has initialised the runtime: a process forked from here hangs at its first op; spawn it",
            fix=self._spawn(start, file),
            related=[(starter, "initialises the runtime")],
        )

    def _chosen(self, start: Call, file: File) -> bool:
        """Whether another start method than fork is chosen, here or for the whole program."""
        if start.arg("mp_context") is not None:
            return True
        return any(call.value_of(0) != Const("fork") for call in file.calls("multiprocessing.set_start_method"))

    def _spawn(self, start: Call, file: File) -> Fix | None:
        receiver = start.receiver_node
        if (
            receiver is None
            or file.value(receiver) != Api("multiprocessing")
            or start.method not in ("Pool", "Process")
        ):
            return None
        for chosen in file.calls("multiprocessing.get_context"):
            method = chosen.arg(0)
            if method is not None and self._made_by(receiver, chosen, file):
                edit = replace_node(file, method.expression, '"spawn"')
                return Fix("spawn the processes", (edit,), Safety.UNSAFE)
        end = file.span(receiver).end
        return Fix("spawn the processes", (Edit(end, end, '.get_context("spawn")'),), Safety.UNSAFE)

    def _made_by(self, context: cst.BaseExpression, chosen: Call, file: File) -> bool:
        """Whether a name stands for the context that a call gives."""
        if not isinstance(context, cst.Name):
            return False
        return any(d.value is chosen.node for d in file.definitions(context))
