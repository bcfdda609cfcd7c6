from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._graph_ops import makes_op, outermost
from tfmemlint_rules._sessions import SESSION, session_loops

from tfmemlint.api import (
    Call,
    Const,
    File,
    Finding,
    Function,
    Instance,
    Node,
    Rule,
    integer,
    on,
    own_nodes,
    walk,
)

OPS = (cst.Call, cst.BinaryOperation, cst.UnaryOperation)


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
        for op in _ops(loop, loop, file, 2) if not _fresh_graph(loop, file) else ():
            yield self.finding(
                file.call(op) if isinstance(op, cst.Call) else op,
                file,
                "this adds a node to the graph in every iteration of the session's loop; build it once, before",
                related=[(loop, "the loop")],
            )


def _ops(part: Node, loop: Node, file: File, depth: int) -> Iterator[Node]:
    """The ops that one iteration builds, in the functions of the module that it calls, too."""
    body = part.body if isinstance(part, (cst.For, cst.While)) else part
    inside = own_nodes(part, *OPS) if isinstance(part, cst.FunctionDef) else walk(body)
    for node in inside:
        if not isinstance(node, OPS) or _once(node, part, file):
            continue
        if makes_op(node, file) and outermost(node, file):
            yield node
        if isinstance(node, cst.Call) and depth and not makes_op(node, file):
            for target in file.call(node).target.options:
                if isinstance(target, Function) and isinstance(target.node, cst.FunctionDef):
                    if not _fresh_graph(target.node, file):
                        yield from _ops(target.node, loop, file, depth - 1)


def _once(node: Node, within: Node, file: File) -> bool:
    """Whether a condition lets this happen a single time: `if step == 0`, `if self.op is None`, `if not built`."""
    below: Node = node
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, cst.If) and below is above.body:
            test = above.test
            if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
                return True
            if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and not _recurs(test.left):
                other = file.value(test.comparisons[0].comparator)
                equal = isinstance(test.comparisons[0].operator, (cst.Equal, cst.Is))
                if equal and (other == Const(None) or integer(other) is not None):
                    return True
        below = above
    return False


def _recurs(left: cst.BaseExpression) -> bool:
    """Whether a test holds again and again: `step % 100 == 0`."""
    return isinstance(left, cst.BinaryOperation) and isinstance(left.operator, cst.Modulo)


def _fresh_graph(part: Node, file: File) -> bool:
    """Whether each iteration starts with a graph of its own."""
    return any(isinstance(n, cst.Call) and _starts_graph(file.call(n)) for n in walk(part))


def _starts_graph(call: Call) -> bool:
    if call.method != "as_default":
        return call.method in ("Graph", "reset_default_graph", "clear_session")
    receiver = call.receiver
    return not (
        isinstance(receiver, Instance) and (receiver.type_name == SESSION or "Writer" in str(receiver.type_name))
    )
