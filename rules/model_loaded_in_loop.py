from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._altered import changed
from tfmemlint_rules._handlers import handler_of
from tfmemlint_rules._iterations import few_iterations
from tfmemlint_rules._loading import FEW, called_again, conditional, constant, lazy, needs_fresh, reloads

from tfmemlint.api import (
    Call,
    Const,
    File,
    Finding,
    Fix,
    Loop,
    Node,
    Rule,
    Safety,
    assigned_names,
    hoist,
    is_variable,
    loops_left,
    on_file,
    variables,
    walk,
)

LOADS = (
    "tf.keras.models.load_model", "tf.keras.saving.load_model", "tf.saved_model.load", "tensorflow_hub.load",
    "tensorflow_hub.KerasLayer",
)  # fmt: skip


class ModelLoadedInLoop(Rule):
    """
    ## What it does
    Reports models that are loaded in a loop, or in a request handler, with arguments that are the same each time.

    ## Why it costs memory
    Every load builds the model anew, reads its weights and, compiled, its optimizer's slots. Earlier copies stay until
    the garbage collector runs, their graphs longer.

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
    in_tests = False

    @on_file("load_model", "load", "applications", "KerasLayer")
    def check(self, file: File) -> Iterator[Finding]:
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
            handler = handler_of(node, file)
            if handler is not None and constant(call, handler, file):
                passing = lazy(call.node, handler, file) or reloads(call.node, handler, file)
                if not passing and not needs_fresh(call, handler.body, file):
                    yield self._report(call, "for each request", handler, None, file)
            elif handler is None:
                again = called_again(call, file)
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
        targets = [c.target for c in walk(around, cst.CompFor)]
        bound = {name for target in targets for name in variables(target, file)}
        for loop in file.contexts.loops(call.node):
            bound |= assigned_names(loop, file)
        reads = (n for a in call.node.args for n in walk(a.value, cst.Name) if is_variable(n, file))
        if any(n.value in bound and not isinstance(file.value(n), Const) for n in reads):
            return False
        loops = [around, *(loop for loop in file.contexts.loops(call.node) if file.tree.contains(loop, around))]
        if any(needs_fresh(call, loop, file) for loop in loops):
            return False
        return not conditional(call.node, around, file) and not changed(call.node, file)

    def _report(self, call: Call, when: str, around: Node, fix: Fix | None, file: File) -> Finding:
        return self.finding(
            call,
            file,
            f"this model is built and its weights are read again {when}; load it once",
            fix=fix,
            related=[(around, "runs again")],
        )

    def _hoist(self, call: Call, loop: Loop | None, file: File) -> Fix | None:
        if loop is None or not isinstance(file.tree.parent(call.node), cst.Assign):
            return None
        fix = hoist(file, [file.tree.statement(call.node)], "load it before the loop")
        if fix is None or not all(few_iterations(outer, file, FEW) for outer in loops_left(file, fix, call.node)):
            return None
        return fix if called_again(call, file) is None else None
