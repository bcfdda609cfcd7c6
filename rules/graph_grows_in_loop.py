from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Const,
    Fact,
    File,
    Finding,
    Function,
    Instance,
    Node,
    Rule,
    calls,
    keras,
    limits,
    on,
    ordering,
    own_nodes,
    repetition,
    tracing,
    walk,
)

OPS = (cst.Call, cst.BinaryOperation, cst.UnaryOperation)

def _session_loops(file: File) -> list[Node]:
    """What runs a session many times, in one graph: loops and comprehensions, also around a call of its function."""
    found: dict[Node, None] = {}
    for run in keras.session_runs(file):
        for again in repetition.repetitions(file, run.node):
            if not again.handler and not again.few(limits.FEW_RUNS) and not _over_parts(file, again):
                if not _fresh_graph(file, again.place):
                    found[again.place] = None
    return list(found)


def _over_parts(file: File, loop: repetition.Repetition) -> bool:
    """Whether a loop over a few things sums what it makes of each: the parts of a loss, which are built once."""
    runs = {run.node for run in keras.session_runs(file)}
    sums = [n.value for n in walk(loop.place, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    return loop.few(limits.FEW_STEPS) and any(not any(n in runs for n in walk(value)) for value in sums)


session_loops = Fact(_session_loops, "run", "eval")


class GraphGrowsInLoop(Rule):
    """
    ## What it does
    Reports ops that are built in a loop which runs a TensorFlow 1 session, directly or in a function that the loop
    calls.

    ## Why it costs memory
    Every iteration adds nodes to the default graph, and a graph only grows. Each new node also makes the session
    prepare the graph again: steps get slower and memory fills.

    ## When not to use it
    With a fresh graph in each iteration, which is not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/Graph#finalize
    """

    code = "TFM901"
    summary = "ops built in a session loop make the graph grow with every step"
    no_fix = "the op must become one with a placeholder"
    in_tests = False

    @on(session_loops)
    def check(self, loop: Node, file: File) -> Iterator[Finding]:
        for op in _ops(file, loop, limits.FOLLOWED_CALLS):
            yield self.finding(
                file.call(op) if isinstance(op, cst.Call) else op,
                file,
                "this adds a node to the graph in every iteration of the session's loop; build it once, before",
                related=[(loop, "the loop")],
            )


def _ops(file: File, part: Node, left: int) -> Iterator[Node]:
    """The ops that one iteration builds, in the functions of the module that it calls, too."""
    code = part.body if isinstance(part, (cst.For, cst.While)) else part
    for node in own_nodes(part, *OPS) if isinstance(part, cst.FunctionDef) else walk(code, *OPS):
        if ordering.runs_once(file, node, part):
            continue
        if tracing.makes_op(file, node):
            if tracing.is_outermost_op(file, node):
                yield node
        elif isinstance(node, cst.Call) and left:
            for target in file.call(node).target.options:
                if isinstance(target, Function) and isinstance(target.node, cst.FunctionDef):
                    if not _fresh_graph(file, target.node):
                        yield from _ops(file, target.node, left - 1)


def _fresh_graph(file: File, part: Node) -> bool:
    """Whether some code starts with a graph of its own."""
    return any(_starts_graph(call) for call in calls(file, part))


def _starts_graph(call: Call) -> bool:
    if call.method != "as_default":
        return call.method in ("Graph", "reset_default_graph", "clear_session")
    receiver = call.receiver
    return not (
        isinstance(receiver, Instance) and (receiver.type_name == keras.SESSION or "Writer" in str(receiver.type_name))
    )
