from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Mapping, Node, Rule, Sequence, Severity, on_file

CONTAINERS = frozenset(
    {"builtins.list", "builtins.dict", "builtins.set", "collections.deque", "collections.defaultdict"}
)
ADDS = frozenset({"append", "add", "extend", "insert", "appendleft"})


class TensorLeaksFromTrace(Rule):
    """
    ## What it does
    Reports tensors that traced code (a `tf.function`, Keras' `call()` and `train_step`) puts into an outer list, a
    global or an attribute.

    ## Why it costs memory
    The statement runs once, while the function is traced, and stores a symbolic tensor. It holds the whole graph of
    the function in memory, and using it afterwards raises an out-of-scope error.

    ## Example
    ```python
    @tf.function
    def step(x):
        activations.append(model(x))
    ```
    Return it:
    ```python
    @tf.function
    def step(x):
        return model(x)
    ```

    ## Fix safety
    No fix: return the value, or use a `tf.Variable` or a `tf.TensorArray`.

    ## When not to use it
    When the model only ever runs eagerly.

    ## References
    - https://www.tensorflow.org/guide/function#executing_python_side_effects
    """

    code = "TFM504"
    summary = "a tensor stored outside a traced function holds its graph and cannot be used"
    severity = Severity.ERROR

    @on_file("function", "call", "train_step", "test_step")
    def check(self, file: File) -> Iterator[Finding]:
        for word in ADDS:
            for node in file.calls_by_word.get(word, ()):
                if (
                    isinstance(node.func, cst.Attribute)
                    and node.args
                    and self._leaks(node.func.value, node.args[-1].value, node, file)
                ):
                    yield self._report(file.call(node), file)
        for assign in file.tree.of(cst.Assign):
            if not file.contexts.traced(assign) or file.contexts.mapped(assign) or self._builds(assign, file):
                continue
            for target in assign.targets:
                if self._outer_target(target.target, assign, file) and self._tensor(assign.value, file):
                    yield self._report(assign, file)
                    break

    def _leaks(self, container: cst.BaseExpression, item: cst.BaseExpression, node: Node, file: File) -> bool:
        return file.contexts.traced(node) and self._outer(container, file) and self._tensor(item, file)

    def _builds(self, assign: cst.Assign, file: File) -> bool:
        """Whether the function makes its object: `__init__` and `build` store what belongs to it."""
        function = file.contexts.function(assign)
        return isinstance(function, cst.FunctionDef) and function.name.value in ("__init__", "build")

    def _outer(self, container: cst.BaseExpression, file: File) -> bool:
        """Whether a container outlives the traced function: an attribute of `self`, or a name from outside."""
        if isinstance(container, cst.Attribute):
            return (
                isinstance(container.value, cst.Name)
                and container.value.value == "self"
                and self._set_elsewhere(container, file)
            )
        if not isinstance(container, cst.Name):
            return False
        scope = file.scope_of(container)
        if container.value in file.flow(scope).bindings:
            return False
        for outer in file.scopes_around(scope):
            made = file.flow(outer).bindings.get(container.value)
            if made:
                inside = isinstance(outer, cst.FunctionDef) and file.contexts.traced(outer.body.body[0])
                return not inside and any(self._is_container(d.value, file) for d in made)
        return False

    def _is_container(self, value: Node | None, file: File) -> bool:
        """Whether the name is given a list, dictionary or set (`keras.ops.add` is none)."""
        if isinstance(value, cst.Call):
            return file.call(value).name in CONTAINERS
        return isinstance(value, (cst.List, cst.Dict, cst.Set, cst.ListComp, cst.DictComp))

    def _set_elsewhere(self, container: cst.Attribute, file: File) -> bool:
        """Whether the attribute is a plain list (Keras' own collections have methods of the same names)."""
        return isinstance(file.value(container), (Sequence, Mapping))

    def _outer_target(self, target: cst.BaseExpression, assign: cst.Assign, file: File) -> bool:
        if isinstance(target, cst.Attribute):
            return isinstance(target.value, cst.Name) and target.value.value == "self"
        if isinstance(target, cst.Subscript):
            return self._outer(target.value, file)
        if isinstance(target, cst.Name):
            return any(d.node is target for d in file.global_writes.get(target.value, ()))
        return False

    def _tensor(self, item: cst.BaseExpression, file: File) -> bool:
        value = file.value(item)
        return isinstance(value, Array) and value.library in ("tf", "keras") and not value.variable

    def _report(self, where: Call | Node, file: File) -> Finding:
        return self.finding(
            where,
            file,
            "this runs once, while the function is traced: it stores a symbolic tensor that holds the graph and "
            "cannot be used outside",
        )
