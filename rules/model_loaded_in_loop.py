from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._loops import assigned_names

from tfmemlint.api import Call, File, Finding, Fix, Node, Rule, Safety, on_file, walk
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import indentation, insert_before, statement_lines

LOADS = ("tf.keras.models.load_model", "tf.saved_model.load", "tensorflow_hub.load", "tensorflow_hub.KerasLayer", "tf.keras.saving.load_model")
SAVES = frozenset({"save", "save_model", "save_weights", "export"})
ROUTES = frozenset({"route", "get", "post", "put"})


class ModelLoadedInLoop(Rule):
    """
    ## What it does
    Reports models that are loaded in a loop, or in a request handler, with arguments that are the same each time.

    ## Why it costs memory
    Every load builds the model anew, reads its weights and, compiled, its optimizer's slots. Earlier copies stay until
    the garbage collector runs, their graphs longer.

    ## Example
    ```python
    for image in images:
        model = tf.keras.models.load_model("model.keras")
        scores.append(model(image))
    ```
    Load it once:
    ```python
    model = tf.keras.models.load_model("model.keras")
    for image in images:
        scores.append(model(image))
    ```

    ## Fix safety
    Unsafe: the loop shares one model, whose state carries over.

    ## When not to use it
    When the file changes between the iterations; loops that also save a model are not reported.

    ## References
    - https://keras.io/api/models/model_saving_apis/model_saving_and_loading/
    """

    code = "TFM606"
    summary = "a model loaded in a loop is built again in each iteration"
    fix_safety = (Safety.UNSAFE,)

    @on_file("load_model", "load", "applications", "KerasLayer")
    def check(self, file: File) -> Iterator[Finding]:
        if is_test(file):
            return
        for node in file.tree.of(cst.Call):
            loop = file.contexts.loop(node)
            handler = None if loop is not None else self._handler(node, file)
            if loop is None and handler is None:
                continue
            call = file.call(node)
            if call.name is None or not self._loads(call.name):
                continue
            if loop is not None and self._same_each_time(call, loop, file):
                yield self._report(call, "in each iteration", loop, self._hoist(call, loop, file), file)
            elif handler is not None and self._constant(call, handler, file):
                yield self._report(call, "for each request", handler, None, file)

    def _loads(self, name: str) -> bool:
        return name in LOADS or (name.startswith("tf.keras.applications.") and name.rpartition(".")[2][:1].isupper())

    def _same_each_time(self, call: Call, loop: cst.For | cst.While, file: File) -> bool:
        """Whether nothing that the call reads is bound by a loop around it, and no such loop saves or trains a model."""
        for outer in file.contexts.loops(call.node):
            count = file.contexts.literal_count(outer)
            if count is not None and count <= 3 and outer is loop:
                return False
            bound = set(assigned_names(outer, file))
            if any(isinstance(n, cst.Name) and n.value in bound for a in call.node.args for n in walk(a.value)):
                return False
            words = {file.call(n).method for n in walk(outer.body) if isinstance(n, cst.Call)}
            if words & (SAVES | {"fit", "train_on_batch", "compile"}):
                return False
        return not self._conditional(call.node, loop, file)

    def _conditional(self, node: cst.Call, loop: Node, file: File) -> bool:
        return any(isinstance(a, (cst.If, cst.Try)) for a in file.tree.ancestors(node) if a is not loop and file.tree.contains(loop, a))

    def _handler(self, node: cst.Call, file: File) -> cst.FunctionDef | None:
        """The web request handler whose body runs the node, or None."""
        function = file.contexts.function(node)
        for decorator in function.decorators if isinstance(function, cst.FunctionDef) else ():
            expression = decorator.decorator
            if isinstance(expression, cst.Call) and isinstance(expression.func, cst.Attribute) and expression.func.attr.value in ROUTES:
                return function
        return None

    def _constant(self, call: Call, handler: cst.FunctionDef, file: File) -> bool:
        local = file.flow(handler).bindings
        reads = (n for a in call.node.args for n in walk(a.value) if isinstance(n, cst.Name))
        return not any(n.value in local for n in reads) and not self._conditional(call.node, handler, file)

    def _report(self, call: Call, when: str, around: Node, fix: Fix | None, file: File) -> Finding:
        return self.finding(
            call, file, f"this model is built and its weights are read again {when}; load it once", fix=fix, related=[(around, "runs again")]
        )

    def _hoist(self, call: Call, loop: cst.For | cst.While, file: File) -> Fix | None:
        line = file.tree.statement(call.node)
        assign = file.tree.parent(call.node)
        lines = statement_lines(file, line)
        block = file.tree.parent(line)
        if not isinstance(assign, cst.Assign) or lines is None or block is not loop.body or len(loop.body.body) < 2:
            return None
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or "\n" in file.text(assign):
            return None
        if file.source.text[lines.start : lines.end].count("#") or not indentation(file, line):
            return None
        edits = (insert_before(file, loop, file.text(assign)), Edit(lines.start, lines.end, ""))
        return Fix("load it before the loop", edits, Safety.UNSAFE)
