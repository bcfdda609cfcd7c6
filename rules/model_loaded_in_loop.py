from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import is_test
from tfmemlint_rules._items import few_iterations
from tfmemlint_rules._loops import assigned_names
from tfmemlint_rules._made import changed, fate

from tfmemlint.api import Call, File, Finding, Fix, Node, Rule, Safety, on_file, own_nodes, parameters, walk
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import indentation, insert_before, statement_lines

LOADS = (
    "tf.keras.models.load_model", "tf.keras.saving.load_model", "tf.saved_model.load", "tensorflow_hub.load",
    "tensorflow_hub.KerasLayer",
)  # fmt: skip
SAVES = frozenset({"save", "save_model", "save_weights", "export"})
TRAINS = frozenset({"fit", "train_on_batch", "compile", "fit_generator"})
FEW = 3
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
            call = file.call(node) if self._word(node, file) else None
            if call is None or call.name is None or not self._loads(call.name):
                continue
            loop = next((loop for loop in file.contexts.loops(node) if not few_iterations(loop, file, FEW)), None)
            around: Node | None = loop or self._comprehension(node, file)
            if around is not None:
                if self._same_each_time(call, around, file):
                    yield self._report(call, "in each iteration", around, self._hoist(call, loop, file), file)
                continue
            handler = self._handler(node, file)
            if handler is not None and self._constant(call, handler, file):
                yield self._report(call, "for each request", handler, None, file)
            elif handler is None:
                again = self._called_again(call, file)
                if again is not None:
                    when = "for each request" if isinstance(again, cst.FunctionDef) else "in each call"
                    yield self._report(call, when, again, None, file)

    def _word(self, node: cst.Call, file: File) -> bool:
        """Whether the call may run more than once at all."""
        contexts = file.contexts
        return any(f(node) is not None for f in (contexts.function, contexts.loop, contexts.comprehension))

    def _loads(self, name: str) -> bool:
        return name in LOADS or (name.startswith("tf.keras.applications.") and name.rpartition(".")[2][:1].isupper())

    def _comprehension(self, node: cst.Call, file: File) -> Node | None:
        """The comprehension that loads the model for each item, unless the models are what it collects."""
        around = file.contexts.comprehension(node)
        return None if around is None or getattr(around, "elt", None) is node else around

    def _same_each_time(self, call: Call, around: Node, file: File) -> bool:
        """Whether nothing that the call reads is bound by a loop around it, and the loop needs no fresh model."""
        targets = [c.target for c in walk(around) if isinstance(c, cst.CompFor)]
        bound = {n.value for target in targets for n in walk(target) if isinstance(n, cst.Name)}
        for loop in file.contexts.loops(call.node):
            bound |= set(assigned_names(loop, file))
        if any(isinstance(n, cst.Name) and n.value in bound for a in call.node.args for n in walk(a.value)):
            return False
        loops = [around, *(loop for loop in file.contexts.loops(call.node) if file.tree.contains(loop, around))]
        if any(self._needs_fresh(call, loop, file) for loop in loops):
            return False
        return not self._conditional(call.node, around, file) and not changed(call.node, file)

    def _needs_fresh(self, call: Call, loop: Node, file: File) -> bool:
        """Whether the loop saves or trains a model, or gives the file that is loaded to something else, too."""
        given = {file.text(a.value) for a in call.node.args if a.keyword is None}
        for node in walk(loop):
            if isinstance(node, cst.Call) and node is not call.node:
                if file.call(node).method in SAVES | TRAINS:
                    return True
                if any(file.text(a.value) in given for a in node.args) and file.call(node).name is None:
                    return True
        return False

    def _conditional(self, node: cst.Call, loop: Node, file: File) -> bool:
        """Whether the loop loads only sometimes, or tries until it works."""
        for above in file.tree.ancestors(node):
            if above is loop:
                return False
            if isinstance(above, cst.If):
                return True
            if isinstance(above, cst.Try) and any(isinstance(n, (cst.Break, cst.Return)) for n in walk(above)):
                return True
        return False

    def _called_again(self, call: Call, file: File) -> Node | None:
        """The loop around a call of the function that loads the model, uses it and forgets it."""
        function = file.contexts.function(call.node)
        if not isinstance(function, cst.FunctionDef) or function.decorators or function.name.value == "__init__":
            return None
        made = file.tree.parent(call.node)
        if isinstance(made, cst.Assign) and not isinstance(made.targets[0].target, cst.Name):
            return None  # kept in an attribute
        if not self._constant(call, function, file) or self._needs_fresh(call, function.body, file):
            return None
        returned = self._returned(call, function)
        if not returned and not self._forgotten(call, file):
            return None
        for caller in file.values.functions.callers(function) or ():
            if returned and not self._forgotten(caller, file):
                continue
            handler = self._handler(caller.node, file)
            if handler is not None and not self._conditional(caller.node, handler, file):
                return handler
            around: list[Node] = [n for n in file.contexts.loops(caller.node) if not few_iterations(n, file, FEW)]
            comprehension = file.contexts.comprehension(caller.node)
            for loop in around or ([comprehension] if comprehension is not None else []):
                if not self._conditional(caller.node, loop, file) and not self._of_item(caller, loop, file):
                    return None if self._needs_fresh(call, loop, file) else loop
        return None

    def _forgotten(self, call: Call, file: File) -> bool:
        """Whether what a call gives is used and dropped."""
        done = fate(call.node, file)
        return done is not None and not done.kept and not changed(call.node, file)

    def _returned(self, call: Call, function: cst.FunctionDef) -> bool:
        """Whether the function is there to load the model: it gives back what it loads, and nothing else."""
        returns = [n for n in own_nodes(function, (cst.Return,)) if isinstance(n, cst.Return)]
        return bool(returns) and all(node.value is call.node for node in returns)

    def _of_item(self, caller: Call, loop: Node, file: File) -> bool:
        """Whether the loop calls a method of another object each time."""
        bound = {
            n.value for c in walk(loop) if isinstance(c, cst.CompFor) for n in walk(c.target) if isinstance(n, cst.Name)
        }
        if isinstance(loop, (cst.For, cst.While)):
            bound = set(assigned_names(loop, file))
        receiver = caller.receiver_node
        return receiver is not None and any(isinstance(n, cst.Name) and n.value in bound for n in walk(receiver))

    def _handler(self, node: cst.Call, file: File) -> cst.FunctionDef | None:
        """The web request handler whose body runs the node, or None."""
        function = file.contexts.function(node)
        for decorator in function.decorators if isinstance(function, cst.FunctionDef) else ():
            expression = decorator.decorator
            route = expression.func if isinstance(expression, cst.Call) else None
            if (
                isinstance(route, cst.Attribute)
                and route.attr.value in ROUTES
                and isinstance(function, cst.FunctionDef)
            ):
                return function
        return None

    def _constant(self, call: Call, handler: cst.FunctionDef, file: File) -> bool:
        local = set(file.flow(handler).bindings)
        if file.class_of(handler) is not None:
            local -= {p.name.value for p in (*parameters(handler),)[:1]}  # the object's own settings
        reads = (n for a in call.node.args for n in walk(a.value) if isinstance(n, cst.Name))
        return not any(n.value in local for n in reads) and not self._conditional(call.node, handler, file)

    def _report(self, call: Call, when: str, around: Node, fix: Fix | None, file: File) -> Finding:
        return self.finding(
            call,
            file,
            f"this model is built and its weights are read again {when}; load it once",
            fix=fix,
            related=[(around, "runs again")],
        )

    def _hoist(self, call: Call, loop: cst.For | cst.While | None, file: File) -> Fix | None:
        if loop is None:
            return None
        line = file.tree.statement(call.node)
        assign = file.tree.parent(call.node)
        lines = statement_lines(file, line)
        block = file.tree.parent(line)
        if not isinstance(assign, cst.Assign) or lines is None or block is not loop.body or len(loop.body.body) < 2:
            return None
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or "\n" in file.text(assign):
            return None
        if not indentation(file, line):
            return None
        outermost = list(file.contexts.loops(call.node))[-1]
        written = file.source.text[lines.start : lines.end].strip()
        edits = (insert_before(file, outermost, written), Edit(lines.start, lines.end, ""))
        return Fix("load it before the loop", edits, Safety.UNSAFE)
