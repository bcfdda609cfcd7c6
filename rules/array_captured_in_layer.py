from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Call, File, Finding, Fix, Function, Rule, Safety, on_call, show_bytes, walk
from tfmemlint.fix.edits import api_text, insert_after, statement_lines


class ArrayCapturedInLayer(Rule):
    """
    ## What it does
    Reports large NumPy arrays that a `Lambda` layer's function or a custom loss closes over.

    ## Why it costs memory
    The function is traced into the model's graphs, and the array becomes a constant in each of them: 40 MB of array
    took 381 MB more in a measurement. The model can hardly be saved either.

    ## Example
    ```python
    table = np.zeros((100_000, 256), np.float32)
    layer = keras.layers.Lambda(lambda ids: tf.gather(table, ids))
    ```
    Close over a tensor:
    ```python
    table = tf.constant(np.zeros((100_000, 256), np.float32))
    layer = keras.layers.Lambda(lambda ids: tf.gather(table, ids))
    ```

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

    @on_call("tf.keras.layers.Lambda")
    def layer(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._function(call, "function", file)

    @on_call("tf.keras.Model.compile")
    def loss(self, call: Call, file: File) -> Iterator[Finding]:
        yield from self._function(call, "loss", file)

    def _function(self, call: Call, parameter: str, file: File) -> Iterator[Finding]:
        for option in call.value_of(parameter).options:
            if not isinstance(option, Function):
                continue
            for name in walk(option.node.body):
                array = self._captured(name, option.node, file) if isinstance(name, cst.Name) else None
                if array is not None and isinstance(name, cst.Name):
                    size = array.bytes or 0
                    yield self.finding(
                        name, file, f"this array of {show_bytes(size)} becomes a constant of the model's graphs; close over a tensor",
                        fix=self._tensor(name.value, file), related=[(call, "used by the model here")], bytes=size,
                    )  # fmt: skip
                    break

    def _captured(self, name: cst.Name, function: cst.FunctionDef | cst.Lambda, file: File) -> Array | None:
        parent = file.tree.parent(name)
        if (
            name.value in file.flow(function).bindings
            or file.scope_of(name) is not function
            or isinstance(parent, cst.Attribute)
        ):
            return None
        value = file.value(name)
        if (
            isinstance(value, Array)
            and value.library == "np"
            and value.bytes is not None
            and value.bytes >= file.config.min_bytes
        ):
            return value
        return None

    def _tensor(self, name: str, file: File) -> Fix | None:
        definitions = file.flow(file.module).end.get(name, ())
        spelled = api_text(file, "tf.constant")
        if len(definitions) != 1 or spelled is None or not isinstance(definitions[0].node, cst.Name):
            return None
        line = file.tree.statement(definitions[0].node)
        if statement_lines(file, line) is None:
            return None
        return Fix("make it a tensor", (insert_after(file, line, f"{name} = {spelled}({name})"),), Safety.UNSAFE)
