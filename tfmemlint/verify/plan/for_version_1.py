"""Programs for TensorFlow 1 of which few lines tell, run as such when TensorFlow 2 refuses them."""

from __future__ import annotations

import re
from dataclasses import replace

from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.runs import Run

GONE = frozenset({
    "AUTO_REUSE", "ConfigProto", "GPUOptions", "GraphKeys", "InteractiveSession", "Session", "add_to_collection", "app",
    "assign", "contrib", "flags", "get_collection", "get_default_graph", "get_default_session", "get_variable",
    "get_variable_scope", "gfile", "global_variables", "global_variables_initializer", "initialize_all_variables",
    "layers", "local_variables_initializer", "log", "logging", "multinomial", "placeholder", "placeholder_with_default",
    "py_func", "random_normal", "random_normal_initializer", "random_uniform", "reset_default_graph",
    "set_random_seed", "sparse_placeholder", "to_float", "to_int32", "to_int64", "trainable_variables",
    "truncated_normal", "truncated_normal_initializer", "variable_scope", "AdamOptimizer", "FileWriter",
    "GradientDescentOptimizer", "MomentumOptimizer", "RMSPropOptimizer", "Saver", "dynamic_rnn", "merge_all",
    "rnn_cell", "softmax_cross_entropy_with_logits_v2", "static_rnn", "max_pool_v2",
    "make_one_shot_iterator", "make_initializable_iterator",
})  # fmt: skip
"""Names of TensorFlow 1 that TensorFlow 2 does not have where they were."""

NO_NAME = re.compile(r"module 'tensorflow[\w.]*' has no attribute '(\w+)'")
EAGER = re.compile(r"not compatible with eager execution|not supported when eager execution is enabled")


def with_version_1(pair: Pair, run: Run) -> Pair | None:
    """The programs as ones for TensorFlow 1; None where the run did not fail for want of that, or was one of these."""
    program, error = pair.before, run.error
    if program.version_1 or error is None:
        return None
    missing = NO_NAME.search(error.message)
    is_old = missing is not None and missing[1] in GONE
    if not is_old and (error.type != "RuntimeError" or EAGER.search(error.message) is None):
        return None
    return of_version_1(pair)


def of_version_1(pair: Pair) -> Pair:
    """The programs as ones for TensorFlow 1."""
    after = None if pair.after is None else replace(pair.after, version_1=True)
    return replace(pair, before=replace(pair.before, version_1=True), after=after)
