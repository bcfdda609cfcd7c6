from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tensors import holds_tensor
from tfmemlint_rules._trace_stores import Store, stores

from tfmemlint.api import Array, File, Finding, Node, Rule, Severity, on_file, walk


class TensorLeaksFromTrace(Rule):
    """
    ## What it does
    Reports tensors that traced code (a `tf.function`, Keras' `call()` and `train_step`) puts into an outer list, a
    global or an attribute.

    ## Why it costs memory
    The statement runs once, while the function is traced, and stores a symbolic tensor. It holds the whole graph of
    the function in memory, and using it afterwards raises an out-of-scope error.

    ## When not to use it
    When the model only ever runs eagerly.

    ## References
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    """

    code = "TFM504"
    summary = "a tensor stored outside a traced function holds its graph and cannot be used"
    no_fix = "return the value, or use a `tf.Variable` or a `tf.TensorArray`"
    severity = Severity.ERROR

    @on_file("function", "map", "filter", "call", "train_step", "test_step")
    def check(self, file: File) -> Iterator[Finding]:
        if file.before_version_2:
            return  # the one graph is that of the whole program
        for store in stores(file):
            if not file.contexts.traced(store.node) or self._builds(store, file):
                continue
            replaced = isinstance(store.node, (cst.Assign, cst.AugAssign))
            if replaced and (file.contexts.mapped(store.node) or self._hands_on(store, file)):
                continue
            if any(holds_tensor(item, file) for item in store.items):
                yield self.finding(
                    store.where,
                    file,
                    "this runs once, while the function is traced: it stores a symbolic tensor that holds the graph "
                    "and cannot be used outside",
                )

    def _builds(self, store: Store, file: File) -> bool:
        """Whether the function makes its object: `__init__` and `build` store what belongs to it."""
        function = file.contexts.function(store.node)
        return isinstance(function, cst.FunctionDef) and function.name.value in ("__init__", "build")

    def _hands_on(self, store: Store, file: File) -> bool:
        """Whether other traced code reads the place: then each trace passes its own value on, unless an `if` keeps the
        first one. A variable is assigned to, which is right."""
        target = store.target.value if isinstance(store.target, cst.Subscript) else store.target
        value, home = file.value(target), file.contexts.function(store.node)
        if isinstance(value, Array) and value.variable:
            return True
        if not isinstance(home, cst.FunctionDef):
            return False
        owner = file.class_of(home)
        if owner is not None and file.values.classes.derives(owner, "tf.keras.losses.Loss"):
            return True  # the step that computes the loss, in another module, reads its parts in the same trace
        if isinstance(target, cst.Name):
            given = (use for use in file.loads(target.value) if isinstance(file.tree.parent(use), cst.Arg))
            return target is not store.target and any(file.tree.contains(home, use) for use in given)
        if not isinstance(target, cst.Attribute) or self._once(store.node, home, target.attr.value, file):
            return False
        reads = (
            a for a in file.tree.of(cst.Attribute)
            if a.attr.value == target.attr.value and not isinstance(file.tree.parent(a), cst.AssignTarget)
        )  # fmt: skip
        readers = {id(f): f for f in map(file.contexts.function, reads) if f is not None and f is not home}
        return any(self._runs_traced(reader, file) for reader in readers.values())

    def _runs_traced(self, function: cst.FunctionDef | cst.Lambda, file: File, depth: int = 3) -> bool:
        """Whether some traced code runs the function, whoever else calls it."""
        body = function.body.body[0] if isinstance(function, cst.FunctionDef) else function.body
        if file.contexts.traced(body):
            return True
        if not depth or not isinstance(function, cst.FunctionDef) or file.class_of(function) is None:
            return False
        uses = (use for use in file.loads(function.name.value) if file.contexts.function(use) is not function)
        callers = (file.contexts.function(use) for use in uses if isinstance(file.tree.parent(use), cst.Attribute))
        return any(caller is not None and self._runs_traced(caller, file, depth - 1) for caller in callers)

    def _once(self, node: Node, home: cst.FunctionDef, attribute: str, file: File, depth: int = 2) -> bool:
        """Whether an `if` asks for the attribute before it is stored, here or where the function is called."""
        for above in file.tree.ancestors(node):
            if above is home:
                break
            if isinstance(above, cst.If) and any(
                attribute in (n.value, n.value[1:-1])
                for n in walk(above.test, cst.Name, cst.SimpleString)
            ):  # fmt: skip
                return True
        callers = file.values.functions.callers(home) or () if depth else ()
        return any(
            isinstance(scope := file.scope_of(call.node), cst.FunctionDef)
            and self._once(call.node, scope, attribute, file, depth - 1)
            for call in callers
        )
