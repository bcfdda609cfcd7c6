"""TensorFlow 1 sessions: which calls run one, and in which loops."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._iterations import few_iterations

from tfmemlint.api import Array, Call, Const, Fact, File, Instance, Node, Sequence, walk

SESSION = "tf.compat.v1.Session"
SESSIONS = ("tf.Session", "tf.InteractiveSession", SESSION, "tf.compat.v1.InteractiveSession")
FEW = 3
PARTS = 16
"""Items of a display up to which a loop that adds something up may be one over the parts of a network."""


def runs_session(call: Call) -> bool:
    """Whether a call is `session.run(...)` of a session that is known to be one, or `tensor.eval(...)`."""
    receiver = call.receiver
    if call.method == "eval":
        return all(isinstance(option, Array) and option.library == "tf" for option in receiver.options)
    if call.method != "run" or not receiver.known:
        return False
    return all(isinstance(option, Instance) and option.type_name == SESSION for option in receiver.options)


def session_runs(file: File) -> list[cst.Call]:
    """All calls of a file that run a session."""
    found = (node for word in ("run", "eval") for node in file.calls_by_word.get(word, ()))
    return [node for node in found if runs_session(file.call(node))]


def _session_loops(file: File) -> list[Node]:
    found: dict[int, Node] = {}
    for run in session_runs(file):
        for loop in _around(run, file, 2):
            if not few_iterations(loop, file, FEW) and not _over_parts(loop, file):
                found[id(loop)] = loop
    return list(found.values())


session_loops = Fact(_session_loops, "run", "eval")
"""The loops and comprehensions that run a session, themselves or in a function of the module."""


def _over_parts(loop: Node, file: File) -> bool:
    """Whether a loop over a display sums what it makes of each item: the parts of a loss, which are built once."""
    value = file.contexts.iterated(loop) if isinstance(loop, cst.For) else None
    if not isinstance(value, Sequence) or value.open or len(value.items) > PARTS:
        return False
    sums = [n.value for n in walk(loop, cst.AugAssign) if not isinstance(file.value(n.value), Const)]
    runs = {id(run) for run in session_runs(file)}
    return any(not any(id(n) in runs for n in walk(value)) for value in sums)


def _around(node: Node, file: File, depth: int) -> Iterator[Node]:
    yield from file.contexts.loops(node)
    comprehension = file.contexts.comprehension(node)
    if comprehension is not None:
        yield comprehension
    function = file.contexts.function(node)
    if function is not None and depth:
        for caller in file.values.functions.callers(function) or ():
            yield from _around(caller.node, file, depth - 1)
