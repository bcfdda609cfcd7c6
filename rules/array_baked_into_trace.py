from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    api_text,
    dotted,
    home_of,
    insert_after,
    on_file,
    show_bytes,
    statement_lines,
    walk,
    written,
)

PYTHON_USES = frozenset({"shape", "dtype", "size", "ndim", "nbytes"})
MEASURES = frozenset({"builtins.len", "builtins.range", "np.shape", "np.ndim", "np.size"})


class ArrayBakedIntoTrace(Rule):
    """
    ## What it does
    Reports large NumPy arrays that a traced function or a `Dataset.map` function reads from outside.

    ## Why it costs memory
    The array becomes a constant of the graph: it is serialized, copied several times while the graph is optimized, and
    once more for every further trace. Over 2 GiB it raises `ValueError`.

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

    @on_file("function", "map", "filter", "call", "train_step")
    def check(self, file: File) -> Iterator[Finding]:
        functions: list[cst.FunctionDef | cst.Lambda] = [*file.tree.of(cst.FunctionDef), *file.tree.of(cst.Lambda)]
        for function in functions:
            body = function.body
            inner = body.body[0] if isinstance(body, cst.IndentedBlock) and body.body else body
            if not file.contexts.traced(inner if isinstance(function, cst.FunctionDef) else body):
                continue
            seen: set[str] = set()
            for node in walk(body):
                path = dotted(node) if isinstance(node, (cst.Name, cst.Attribute)) else self._entry(node, file)
                if path is not None and path not in seen and file.scope_of(node) is function:
                    finding = self._read(node, path, function, file)
                    if finding is not None:
                        seen.add(path)
                        yield finding

    def _entry(self, node: Node, file: File) -> str | None:
        """`tables["mean"]` of a dictionary from outside, as it is written."""
        key = node.slice[0].slice if isinstance(node, cst.Subscript) and len(node.slice) == 1 else None
        if not isinstance(node, cst.Subscript) or not isinstance(node.value, cst.Name):
            return None
        if not isinstance(key, cst.Index) or not isinstance(key.value, cst.SimpleString):
            return None
        own = node.value.value in file.flow(file.scope_of(node)).bindings
        return None if own else f"{node.value.value}[{key.value.value}]"

    def _read(self, node: Node, path: str, function: cst.FunctionDef | cst.Lambda, file: File) -> Finding | None:
        if path in file.flow(function).bindings or (isinstance(node, cst.Attribute) and not path.startswith("self.")):
            return None
        parent = file.tree.parent(node)
        if isinstance(parent, cst.Attribute) and (parent.attr is node or parent.attr.value in PYTHON_USES):
            return None
        if isinstance(parent, cst.Arg) and (parent.keyword is node or self._measured(parent, file)):
            return None
        value = file.value(node)
        if (
            not isinstance(value, Array)
            or value.library != "np"
            or value.bytes is None
            or value.bytes < file.config.min_bytes
        ):
            return None
        made = self._made(node, path, file)
        return self.finding(
            node,
            file,
            f"this array of {show_bytes(value.bytes)} becomes a constant of the graph, once for every trace; make "
            "it a tensor outside",
            fix=self._tensor(path, made, file),
            related=[(made, "made here")] if made is not None else [],
            bytes=value.bytes,
        )

    def _measured(self, arg: cst.Arg, file: File) -> bool:
        """Whether the array is only asked for its length."""
        call = file.tree.parent(arg)
        return isinstance(call, cst.Call) and file.call(call).name in MEASURES

    def _made(self, node: Node, path: str, file: File) -> Node | None:
        """The only target that the array was assigned to last."""
        if isinstance(node, cst.Attribute):
            targets = [t.target for a in file.tree.of(cst.Assign) for t in a.targets if dotted(t.target) == path]
            return targets[0] if len(targets) == 1 else None
        home = home_of(node, file) if isinstance(node, cst.Name) else file.module
        last = written(file.flow(home).end.get(path, ()))
        return last[0].node if len(last) == 1 else None

    def _tensor(self, path: str, made: Node | None, file: File) -> Fix | None:
        spelled = api_text(file, "tf.constant")
        if spelled is None or not isinstance(made, (cst.Name, cst.Attribute)):
            return None
        line = file.tree.statement(made)
        if not isinstance(line, cst.SimpleStatementLine) or statement_lines(file, line) is None:
            return None
        return Fix("make it a tensor", (insert_after(file, line, f"{path} = {spelled}({path})"),), Safety.UNSAFE)
