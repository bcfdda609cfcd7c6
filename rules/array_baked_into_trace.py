from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Array, Definition, File, Finding, Fix, Rule, Safety, on_file, show_bytes, walk
from tfmemlint.fix.edits import api_text, insert_after, statement_lines

PYTHON_USES = frozenset({"shape", "dtype", "size", "ndim", "nbytes"})


class ArrayBakedIntoTrace(Rule):
    """
    ## What it does
    Reports large NumPy arrays that a traced function or a `Dataset.map` function reads from outside.

    ## Why it costs memory
    The array becomes a constant of the graph: it is serialized, copied several times while the graph is optimized, and
    once more for every further trace. Over 2 GB it raises `ValueError`.

    ## Example
    ```python
    table = np.zeros((100_000, 256), np.float32)

    @tf.function
    def look_up(ids):
        return tf.gather(table, ids)
    ```
    Make it a tensor outside; a captured tensor is only referred to:
    ```python
    table = tf.constant(np.zeros((100_000, 256), np.float32))
    ```

    ## Fix safety
    Unsafe: the name is a tensor then, on the device.

    ## When not to use it
    When the function must have the constant in its graph, for export.

    ## References
    - https://www.tensorflow.org/guide/function
    """

    code = "TFM505"
    summary = "a NumPy array read in traced code becomes a constant of every graph"
    fix_safety = (Safety.UNSAFE,)

    @on_file("function", "map", "call", "train_step")
    def check(self, file: File) -> Iterator[Finding]:
        functions: list[cst.FunctionDef | cst.Lambda] = [*file.tree.of(cst.FunctionDef), *file.tree.of(cst.Lambda)]
        for function in functions:
            body = function.body
            inner = body.body[0] if isinstance(body, cst.IndentedBlock) and body.body else body
            if not file.contexts.traced(inner if isinstance(function, cst.FunctionDef) else body):
                continue
            seen: set[str] = set()
            for node in walk(body):
                if isinstance(node, cst.Name) and node.value not in seen and file.scope_of(node) is function:
                    finding = self._read(node, function, file)
                    if finding is not None:
                        seen.add(node.value)
                        yield finding

    def _read(self, name: cst.Name, function: cst.FunctionDef | cst.Lambda, file: File) -> Finding | None:
        if name.value in file.flow(function).bindings:
            return None
        parent = file.tree.parent(name)
        if isinstance(parent, cst.Attribute) and (parent.attr is name or parent.attr.value in PYTHON_USES):
            return None
        if isinstance(parent, cst.Arg) and parent.keyword is name:
            return None
        value = file.value(name)
        if (
            not isinstance(value, Array)
            or value.library != "np"
            or value.bytes is None
            or value.bytes < file.config.min_bytes
        ):
            return None
        definition = next((d for d in file.flow(file.module).end.get(name.value, ())), None)
        return self.finding(
            name,
            file,
            f"this array of {show_bytes(value.bytes)} becomes a constant of the graph, once for every trace; make "
            "it a tensor outside",
            fix=self._tensor(name.value, definition, file),
            related=[(definition.node, "made here")] if definition is not None else [],
            bytes=value.bytes,
        )

    def _tensor(self, name: str, definition: Definition | None, file: File) -> Fix | None:
        spelled = api_text(file, "tf.constant")
        if definition is None or spelled is None or not isinstance(definition.node, cst.Name):
            return None
        line = file.tree.statement(definition.node)
        if not isinstance(line, cst.SimpleStatementLine) or statement_lines(file, line) is None:
            return None
        return Fix("make it a tensor", (insert_after(file, line, f"{name} = {spelled}({name})"),), Safety.UNSAFE)
