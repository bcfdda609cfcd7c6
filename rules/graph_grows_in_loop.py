from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._sessions import session_runs

from tfmemlint.api import Call, File, Finding, Function, Node, Rule, on_file, own_nodes, walk

NOT_OPS = (
    "tf.compat.v1.Session", "tf.Session", "tf.compat.v1.train.Saver", "tf.train.Saver", "tf.compat.v1.summary.FileWriter",
    "tf.summary.FileWriter", "tf.compat.v1.logging", "tf.logging", "tf.io.gfile", "tf.gfile", "tf.compat.v1.gfile",
    "tf.train.Coordinator", "tf.compat.v1.train.get_checkpoint_state", "tf.train.latest_checkpoint", "tf.train.get_checkpoint_state",
    "tf.compat.v1.Summary", "tf.Summary", "tf.train.Example", "tf.train.Feature", "tf.RunMetadata", "tf.compat.v1.RunMetadata",
    "tf.RunOptions", "tf.compat.v1.RunOptions", "tf.errors", "tf.flags", "tf.app", "tf.compat.v1.flags", "tf.train.global_step",
    "tf.compat.v1.train.global_step", "tf.compat.v1.get_default_graph", "tf.get_default_graph", "tf.keras", "tf.test", "tf.data",
    "tf.train.Int64List", "tf.train.BytesList", "tf.train.FloatList", "tf.train.Features", "tf.io.TFRecordWriter",
    "tf.python_io", "tf.compat.as_", "tf.train.summary_iterator", "tf.profiler", "tf.compat.v1.profiler", "tf.Graph", "tf.config",
    "tf.name_scope", "tf.compat.v1.name_scope", "tf.variable_scope", "tf.compat.v1.variable_scope", "tf.device", "tf.control_dependencies",
    "tf.get_collection", "tf.compat.v1.get_collection", "tf.trainable_variables", "tf.compat.v1.trainable_variables",
    "tf.global_variables", "tf.compat.v1.global_variables", "tf.compat.v1.train.start_queue_runners", "tf.train.start_queue_runners",
    "tf.GPUOptions", "tf.ConfigProto", "tf.compat.v1.GPUOptions", "tf.compat.v1.ConfigProto", "tf.contrib", "tf.make_ndarray",
    "tf.summary.Image", "tf.executing_eagerly", "tf.version", "tf.saved_model", "tf.compat.v1.saved_model", "tf.dtypes.as_dtype",
    "tf.as_dtype", "tf.TensorShape", "tf.compat.v1.Session.run", "tf.distribute", "tf.estimator", "tf.train.write_graph",
    "tf.graph_util", "tf.compat.v1.graph_util",
)  # fmt: skip
"""Prefixes of names that make no op in the default graph."""


class GraphGrowsInLoop(Rule):
    """
    ## What it does
    Reports ops that are built in a loop which runs a TensorFlow 1 session, directly or in a function that the loop
    calls.

    ## Why it costs memory
    Every iteration adds nodes to the default graph, and a graph only grows. Each new node also makes the session
    prepare the graph again: steps get slower and memory fills.

    ## Example
    ```python
    for step in range(1000):
        session.run(tf.compat.v1.assign(counter, step))
    ```
    Build the ops before the loop and feed values:
    ```python
    update = tf.compat.v1.assign(counter, value)
    for step in range(1000):
        session.run(update, {value: step})
    ```

    ## Fix safety
    No fix: the op must become one with a placeholder.

    ## When not to use it
    With a fresh graph in each iteration, which is not reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/Graph#finalize
    """

    code = "TFM901"
    summary = "ops built in a session loop make the graph grow with every step"

    @on_file("Session", "InteractiveSession")
    def check(self, file: File) -> Iterator[Finding]:
        if is_test(file):
            return
        seen: set[int] = set()
        loops = {id(loop): loop for run in session_runs(file) for loop in file.contexts.loops(run)}
        for loop in loops.values():
            if self._fresh_graph(loop, file):
                continue
            for node in walk(loop.body):
                if isinstance(node, cst.Call):
                    for op in self._ops(node, file, 1):
                        if id(op.node) not in seen:
                            seen.add(id(op.node))
                            yield self.finding(
                                op, file, "this adds a node to the graph in every iteration of the session's loop; build it once, before",
                                related=[(loop, "the loop")],
                            )  # fmt: skip

    def _ops(self, node: cst.Call, file: File, depth: int) -> Iterator[Call]:
        call = file.call(node)
        if self._builds(call, file):
            yield call
        for target in call.target.options if depth else ():
            if isinstance(target, Function):
                for inner in own_nodes(target.node, (cst.Call,)):
                    yield from self._ops(inner, file, depth - 1)  # type: ignore[arg-type]

    def _builds(self, call: Call, file: File) -> bool:
        name = call.name
        if (
            name is None
            or not name.startswith("tf.")
            or any(
                name == p or name.startswith((p + ".", p + "_")) or (p.endswith("_") and name.startswith(p))
                for p in NOT_OPS
            )
        ):
            return False
        last = name.rpartition(".")[2]
        if last[:1].isupper() and last not in ("Variable",):
            return False
        inner = file.tree.parent(call.node)
        nested = isinstance(inner, cst.Arg) and isinstance(file.tree.parent(inner), cst.Call)
        outer = file.call(file.tree.parent(inner)) if nested else None  # type: ignore[arg-type]
        return outer is None or not self._builds(outer, file)

    def _fresh_graph(self, loop: Node, file: File) -> bool:
        return any(
            isinstance(n, cst.Call) and file.call(n).method in ("Graph", "reset_default_graph", "as_default")
            for n in walk(loop)
        )
