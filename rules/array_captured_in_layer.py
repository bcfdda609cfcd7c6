from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Fix,
    Function,
    Rule,
    Safety,
    api_text,
    definitions_of,
    elements,
    insert_after,
    on_call,
    own_nodes,
    parameters,
    show_bytes,
    statement_lines,
)

READ_IN_PYTHON = frozenset({"shape", "dtype", "size", "ndim", "nbytes", "itemsize"})


class ArrayCapturedInLayer(Rule):
    """
    ## What it does
    Reports large NumPy arrays that a `Lambda` layer's function or a custom loss closes over.

    ## Why it costs memory
    The function is traced into the model's graphs, and the array becomes a constant in each of them: one for `fit` and
    one for `predict`, where a weight would be held once. The model can hardly be saved either.

    ## Fix safety
    Unsafe: the name is a tensor then.

    ## When not to use it
    When the graph must hold the constant.

    ## References
    - https://keras.io/api/layers/core_layers/lambda/
    """

    code = "TFM614"
    summary = "an array captured by a Lambda layer or loss is a constant of every graph"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call("tf.keras.layers.Lambda")
    def layer(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._functions(call, ("function",), file)

    @on_call("tf.keras.Model.compile")
    def loss(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._functions(call, ("loss", "metrics", "weighted_metrics"), file)

    def _functions(self, call: Call, names: tuple[str, ...], file: File) -> Iterator[Finding]:
        given = [leaf for name in names for option in call.value_of(name).options for leaf in elements(option)]
        for function in given:
            if isinstance(function, Function):
                found = next(self._captured(function, file), None)
                if found is not None:
                    node, array = found
                    size = array.bytes or 0
                    yield self.finding(
                        node,
                        file,
                        f"this array of {show_bytes(size)} becomes a constant of the model's graphs; use a tensor",
                        fix=self._tensor(node, file),
                        related=[(call, "used by the model here")],
                        bytes=size,
                    )

    def _captured(self, function: Function, file: File) -> Iterator[tuple[cst.Name | cst.Attribute, Array]]:
        """The large arrays that a function reads from around it: names, and attributes of an object around it."""
        for default in (p.default for p in parameters(function.node)):
            array = file.value(default) if isinstance(default, (cst.Name, cst.Attribute)) else None
            if isinstance(default, (cst.Name, cst.Attribute)) and isinstance(array, Array) and self._large(array, file):
                yield default, array
        for node in own_nodes(function.node, cst.Name, cst.Attribute):
            first = node.value if isinstance(node, cst.Attribute) else node
            if not isinstance(node, (cst.Name, cst.Attribute)) or not isinstance(first, cst.Name):
                continue
            own = node is not first and function.receiver is not None and first.value == "self"
            if (first.value in file.flow(function.node).bindings and not own) or self._python_use(node, file):
                continue
            array = file.value(node)
            if isinstance(array, Array) and self._large(array, file):
                yield node, array

    def _large(self, array: Array, file: File) -> bool:
        return array.library == "np" and (array.bytes or 0) >= file.config.min_bytes

    def _python_use(self, node: cst.Name | cst.Attribute, file: File) -> bool:
        """Whether only the array's shape or the like is read, which is no part of the graph."""
        parent = file.tree.parent(node)
        if isinstance(parent, cst.Attribute):
            return parent.attr is node or parent.attr.value in READ_IN_PYTHON
        call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(parent, cst.Arg) and parent.keyword is node:
            return True
        return isinstance(call, cst.Call) and file.call(call).name == "builtins.len"

    def _tensor(self, node: cst.Name | cst.Attribute, file: File) -> Fix | None:
        """A line after the array's only assignment that makes a tensor of it."""
        spelled = api_text(file, "tf.constant")
        name, definitions = file.text(node), definitions_of(file, node) if isinstance(node, cst.Name) else ()
        if len(definitions) != 1 or spelled is None or not isinstance(definitions[0].node, cst.Name):
            return None
        line = file.tree.statement(definitions[0].node)
        if not isinstance(line, cst.SimpleStatementLine) or statement_lines(file, line) is None:
            return None
        return Fix(
            "make it a tensor",
            (insert_after(file, line, f"{name} = {spelled}({name})"),),
            Safety.UNSAFE,
        )
