from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, File, Finding, Rule, Severity, flow, on, ordering, tracing

BUILDS = frozenset({"__init__", "build"})
"""Methods that make their object: what they store belongs to it."""


class TensorLeaksFromTrace(Rule):
    """
    ## What it does
    Reports tensors that traced code (a `tf.function`, Keras' `call()` and `train_step`) puts into an outer list, a
    global or an attribute.

    ## Why it costs memory
    The statement runs once, while the function is traced, and stores a symbolic tensor. It holds the whole graph of
    the function in memory, and using it afterwards raises an out-of-scope error.

    ## When not to use it
    When the model only ever runs eagerly. What another function of the same trace reads is not reported, nor what one
    mode of a function stores and it or another mode reads, as `"norm"` and `"denorm"` of a layer do, a list that each
    call begins anew and reads itself, and what an attribute switches on (`if self.records:`): whoever does so may run
    the model eagerly. Nothing is reported in programs that run one graph in sessions.

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
        if store.replaces and (file.contexts.mapped(store.node) or self._hands_on(store, home, file)):
            return
        if ordering.asks_setting(file, store.node) or self._is_of_one_call(store, home, file):
            return
        if any(tracing.holds_tensor(file, item) for item in store.items) and not tracing.in_graph_program(file, home):
            yield self.finding(
                store.where,
                file,
                "this runs once, while the function is traced: it stores a symbolic tensor that holds the graph and "
                "cannot be used outside",
            )

    def _is_of_one_call(self, store: flow.Store, home: cst.FunctionDef | cst.Lambda, file: File) -> bool:
        """Whether each call begins the list anew to which it adds, reads it itself, and nothing else does: it could be
        a local one."""
        if store.replaces or not isinstance(store.place, cst.Attribute) or not isinstance(home.body, cst.IndentedBlock):
            return False
        path, word = file.text(store.place), store.place.attr.value
        named = [node for node in file.tree.of(cst.Attribute) if node.attr.value == word]
        reads = [node for node in named if not isinstance(file.tree.parent(node), (cst.AssignTarget, cst.Attribute))]
        if not reads or any(file.contexts.function(node) is not home for node in reads):
            return False
        lines = [line for line in home.body.body if isinstance(line, cst.SimpleStatementLine)]
        begun = [each for line in lines for each in line.body if isinstance(each, cst.Assign)]
        first = next((each for each in begun if any(file.text(t.target) == path for t in each.targets)), None)
        return first is not None and file.tree.order(first) < file.tree.order(store.node)

    def _hands_on(self, store: flow.Store, home: cst.FunctionDef | cst.Lambda, file: File) -> bool:
        """Whether other code of the same trace reads the place, or what only one mode of the function stores and reads:
        then each trace passes its own value on, unless an `if` keeps the first one. A variable is assigned to, which is
        right."""
        place, value, owner = store.place, file.value(store.place), file.class_of(home)
        if isinstance(value, Array) and value.variable and isinstance(store.node, cst.AugAssign):
            return True
        if owner is not None and file.values.classes.derives(owner, "tf.keras.losses.Loss"):
            return True  # the step that computes the loss, in another module, reads its parts in the same trace
        if isinstance(place, cst.Name):
            given = (use for use in file.loads(place.value) if isinstance(file.tree.parent(use), cst.Arg))
            return place is not store.target and any(file.tree.contains(home, use) for use in given)
        if not isinstance(place, cst.Attribute) or ordering.asks_name(file, store.node, place.attr.value):
            return False
        named = [node for node in file.tree.of(cst.Attribute) if node.attr.value == place.attr.value]
        readers = {file.contexts.function(n) for n in named if not isinstance(file.tree.parent(n), cst.AssignTarget)}
        others = [reader for reader in readers - {home} if reader is not None and tracing.runs_traced(file, reader)]
        if any(tracing.in_one_trace(file, home, reader) for reader in others):
            return True
        if readers != {home}:
            return False
        reads = [node for node in named if not isinstance(file.tree.parent(node), cst.AssignTarget)]
        in_turn = any(ordering.exclusive(file, store.node, read) for read in reads)
        at = file.tree.order(store.node)
        if in_turn and all(file.tree.order(read) > at for read in reads):
            return True
        return ordering.behind_one_condition(file, [store.node, *named])
