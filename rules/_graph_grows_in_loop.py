"""Which calls and operators add nodes to the default graph of a TensorFlow 1 program."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Call, File, Iterator, Node

NOT_OPS = (
    "tf.compat.v1.Session", "tf.Session", "tf.compat.v1.summary.FileWriter", "tf.summary.FileWriter",
    "tf.compat.v1.logging", "tf.logging", "tf.io.gfile", "tf.gfile", "tf.compat.v1.gfile", "tf.train.Coordinator",
    "tf.compat.v1.train.get_checkpoint_state", "tf.train.latest_checkpoint", "tf.train.get_checkpoint_state",
    "tf.compat.v1.Summary", "tf.Summary", "tf.train.Example", "tf.train.Feature", "tf.RunMetadata",
    "tf.compat.v1.RunMetadata", "tf.RunOptions", "tf.compat.v1.RunOptions", "tf.errors", "tf.flags", "tf.app",
    "tf.compat.v1.flags", "tf.train.global_step", "tf.compat.v1.train.global_step", "tf.compat.v1.get_default_graph",
    "tf.get_default_graph", "tf.keras", "tf.test", "tf.data", "tf.train.Int64List", "tf.train.BytesList",
    "tf.train.FloatList", "tf.train.Features", "tf.io.TFRecordWriter", "tf.python_io", "tf.compat.as_",
    "tf.train.summary_iterator", "tf.profiler", "tf.compat.v1.profiler", "tf.Graph", "tf.config", "tf.name_scope",
    "tf.compat.v1.name_scope", "tf.variable_scope", "tf.compat.v1.variable_scope", "tf.device",
    "tf.control_dependencies", "tf.get_collection", "tf.compat.v1.get_collection", "tf.trainable_variables",
    "tf.compat.v1.trainable_variables", "tf.compat.v1.train.start_queue_runners", "tf.train.start_queue_runners",
    "tf.GPUOptions", "tf.ConfigProto", "tf.compat.v1.GPUOptions", "tf.compat.v1.ConfigProto", "tf.contrib",
    "tf.make_ndarray", "tf.summary.Image", "tf.executing_eagerly", "tf.version", "tf.saved_model",
    "tf.compat.v1.saved_model", "tf.dtypes.as_dtype", "tf.as_dtype", "tf.TensorShape", "tf.compat.v1.Session.run",
    "tf.distribute", "tf.estimator", "tf.train.write_graph", "tf.graph_util", "tf.compat.v1.graph_util",
)  # fmt: skip
"""Prefixes of names that make no op in the default graph."""

NO_NODES = frozenset({
    "tf.global_variables", "tf.compat.v1.global_variables", "tf.trainable_variables", "tf.local_variables",
    "tf.compat.v1.local_variables", "tf.compat.v1.model_variables", "tf.model_variables", "tf.set_random_seed",
    "tf.compat.v1.set_random_seed", "tf.random.set_random_seed", "tf.disable_v2_behavior", "tf.get_default_session",
    "tf.compat.v1.disable_v2_behavior", "tf.compat.v1.disable_eager_execution", "tf.compat.v1.get_default_session",
    "tf.compat.v1.reset_default_graph", "tf.reset_default_graph",
})  # fmt: skip
METHODS = frozenset({
    "assign", "assign_add", "assign_sub", "scatter_add", "scatter_sub", "scatter_update", "read_value",
    "initialized_value", "scatter_nd_add", "scatter_nd_update", "sparse_read", "count_up_to",
    "minimize", "apply_gradients", "compute_gradients",
})  # fmt: skip
"""Methods of variables and optimizers that make an op; others ask for a name, a shape or a value."""

CLASSES = frozenset({"Variable", "Saver"})
ITERATORS = frozenset({"get_next", "make_one_shot_iterator", "make_initializable_iterator"})
OPERATORS = (
    cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply, cst.FloorDivide, cst.Modulo,
)  # fmt: skip


def makes_op(file: File, node: Node) -> bool:
    """Whether an expression adds a node to the graph."""
    if isinstance(node, cst.BinaryOperation):
        sides = [file.value(side) for side in (node.left, node.right)]
        return isinstance(node.operator, OPERATORS) and any(isinstance(v, Array) and v.library == "tf" for v in sides)
    if isinstance(node, cst.UnaryOperation):
        value = file.value(node.expression)
        return isinstance(node.operator, cst.Minus) and isinstance(value, Array) and value.library == "tf"
    return isinstance(node, cst.Call) and _call_makes_op(file.call(node))


def _call_makes_op(call: Call) -> bool:
    name = call.name
    if call.method in ITERATORS and (name is None or name.startswith("tf.")):
        return isinstance(call.receiver, Iterator) or (call.method != "get_next" and name is not None)
    if name is None or not name.startswith("tf.") or name in NO_NODES:
        return False
    owner, _, last = name.rpartition(".")
    if owner.rpartition(".")[2][:1].isupper():
        return last in METHODS
    if any(name == p or name.startswith((p + ".", p + "_")) or (p[-1] == "_" and name.startswith(p)) for p in NOT_OPS):
        return False
    return not last[:1].isupper() or last in CLASSES


def outermost(file: File, node: Node) -> bool:
    """Whether no op around it takes it as an argument: one finding is enough for `reduce_mean(cast(equal(a, b)))`."""
    above = file.tree.parent(node)
    while isinstance(above, (cst.Arg, cst.Element, cst.List, cst.Tuple)):
        above = file.tree.parent(above)
    return above is None or not makes_op(file, above)
