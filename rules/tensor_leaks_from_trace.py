from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tensor_leaks_from_trace import hands_on, is_asked_eagerly, is_of_one_call, is_set_back

from tfmemlint.api import File, Finding, Rule, Severity, Shows, flow, on, ordering, tracing

BUILDS = frozenset({"__init__", "build"})
"""Methods that make their object: what they store belongs to it."""
EAGER = "tf.init_scope"
"""What is made in here is no part of the graph that is traced."""


class TensorLeaksFromTrace(Rule):
    """
    ## What it does
    Reports tensors that traced code (a `tf.function`, Keras' `call()` and `train_step`) puts into an outer list, a
    global or an attribute.

    ## Why it costs memory
    The statement runs once, while the function is traced, and stores a symbolic tensor. It holds the whole graph of
    the function in memory, and using it afterwards raises an out-of-scope error.

    ## When not to use it
    When the model only ever runs eagerly, as behind `tf.config.run_functions_eagerly(True)`: what `call()` of a model
    stores is reported only where the file trains by Keras or by `tf.function`, and of a layer not in a file with only a
    training loop of its own. What another function of the same trace reads is not reported, such as a loss that the
    model is compiled with, nor what one mode of a function stores and it or another mode reads, as `"norm"` and
    `"denorm"` of a layer do, a list or dictionary that each call begins anew, itself or by a method, and reads itself,
    an attribute that is set back before the call ends, and what is only read as an array (`layer.scores.numpy()`)
    behind a call of the model that makes it eagerly. What an attribute switches on (`if self.records:`) is not reported
    either: whoever does so may run the model eagerly; nor what a parameter does that only calls outside of traces give
    (`layer(x, generates=True)`). Nothing is reported in programs that run one graph in sessions, nor inside of
    `tf.init_scope`.

    ## References
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    """

    code = "TFM504"
    summary = "a tensor stored outside a traced function holds its graph and cannot be used"
    no_fix = "return the value, or use a `tf.Variable` or a `tf.TensorArray`"
    severity = Severity.ERROR

    @on(flow.traced_stores)
    def check(self, store: flow.Store, file: File) -> Iterator[Finding]:
        home = file.contexts.function(store.node)
        builds = isinstance(home, cst.FunctionDef) and home.name.value in BUILDS
        if home is None or builds:
            return
        if (store.replaces or tracing.has_own_loop(file)) and not tracing.is_traced_somewhere(file, home):
            return
        if store.replaces and (file.contexts.mapped(store.node) or hands_on(store, home, file)):
            return
        if ordering.asks_setting(file, store.node) or file.contexts.entered(store.node, EAGER) is not None:
            return
        if tracing.is_asked_for_eagerly(file, store.node):
            return
        if any(harmless(store, home, file) for harmless in (is_of_one_call, is_set_back, is_asked_eagerly)):
            return
        if any(tracing.holds_tensor(file, item) for item in store.items) and not tracing.in_graph_program(file, home):
            yield self.finding(
                store.where,
                file,
                "this runs once, while the function is traced: it stores a symbolic tensor that holds the graph and "
                "cannot be used outside",
                shows=Shows(metric="held"),
            )
