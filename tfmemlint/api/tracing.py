"""Traced functions: what runs in them, what is a tensor or a Python value there, and what makes variables."""

from tfmemlint.query.tracing.eager import is_asked_for_eagerly, runs_eagerly
from tfmemlint.query.tracing.graph_parts import (
    goes_over_numbers,
    is_of_graph_parts,
    is_of_items,
    over_graph_parts,
)
from tfmemlint.query.tracing.graphs import (
    begins_graph,
    graph_functions,
    graph_runs,
    in_graph_program,
    in_own_graph,
    ops_built,
)
from tfmemlint.query.tracing.loop_bodies import (
    chooses_parts,
    collects_items,
    computes_tensors,
    for_graphs,
    on_own_device,
    over_devices,
)
from tfmemlint.query.tracing.parameter_dtypes import dtype_for
from tfmemlint.query.tracing.python_needs import needs_python
from tfmemlint.query.tracing.python_values import is_python
from tfmemlint.query.tracing.results import fetched_in_loop, is_tensor, made_of_tensor, only_tensorflow
from tfmemlint.query.tracing.state import creates_state, outermost_state, state_made_by
from tfmemlint.query.tracing.symbolic import holds_tensor
from tfmemlint.query.tracing.traces import (
    TracedCall,
    has_own_loop,
    in_one_trace,
    is_bound_method,
    is_traced_somewhere,
    parameter_of,
    runs_traced,
    traced_calls,
    tracing_options,
    unrolled_loops,
)

__all__ = [
    "TracedCall",
    "begins_graph",
    "chooses_parts",
    "collects_items",
    "computes_tensors",
    "creates_state",
    "dtype_for",
    "fetched_in_loop",
    "for_graphs",
    "goes_over_numbers",
    "graph_functions",
    "graph_runs",
    "has_own_loop",
    "holds_tensor",
    "in_graph_program",
    "in_one_trace",
    "in_own_graph",
    "is_asked_for_eagerly",
    "is_bound_method",
    "is_of_graph_parts",
    "is_of_items",
    "is_python",
    "is_tensor",
    "is_traced_somewhere",
    "made_of_tensor",
    "needs_python",
    "on_own_device",
    "only_tensorflow",
    "ops_built",
    "outermost_state",
    "over_devices",
    "over_graph_parts",
    "parameter_of",
    "runs_eagerly",
    "runs_traced",
    "state_made_by",
    "traced_calls",
    "tracing_options",
    "unrolled_loops",
]
