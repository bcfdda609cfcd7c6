from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._histories import Stored, store_numbers
from tfmemlint_rules._made import fate
from tfmemlint_rules._models import all_models

from tfmemlint.api import Call, File, Finding, Instance, Node, Rule, Safety, on_file, outlives

ADDS = frozenset({"append", "insert", "appendleft"})
HISTORY = "tf.keras.callbacks.History"


class HistoryKeepsModel(Rule):
    """
    ## What it does
    Reports `History` objects of `fit` that are stored in a list or dictionary in a loop over trials.

    ## Why it costs memory
    A `History` is a callback and refers to its model: a list of them keeps every model of the loop alive, with weights
    and optimizer slots. The numbers are in its `.history` dictionary.

    ## Fix safety
    Safe where only `.history` is read from what is stored, which the fix rewrites too; otherwise it is not offered.

    ## When not to use it
    When there is one model for all calls of `fit`; then it is not reported.

    ## References
    - https://keras.io/api/models/model_training_apis/#fit-method
    """

    code = "TFM612"
    summary = "a stored History keeps its model alive"
    fix_safety = (Safety.SAFE,)
    in_tests = False

    @on_file("fit")
    def check(self, file: File) -> Iterator[Finding]:
        for stored in self._stored(file):
            around: Node | None = self._repeated(stored, file) if stored.container is not None else stored.where
            fits = [o.call for o in file.value(stored.item).options if isinstance(o, Instance) and o.call is not None]
            if around is not None and fits and all(self._keeps(fit, around, file) for fit in fits):
                yield self.finding(
                    file.call(stored.where) if isinstance(stored.where, cst.Call) else self._at(stored),
                    file,
                    "each stored History keeps its model alive, with weights and optimizer slots; store its .history",
                    fix=store_numbers(stored, file),
                    related=[(fits[0], "the History comes from here")],
                )

    def _repeated(self, stored: Stored, file: File) -> Node | None:
        """The loop around a store, or the function around it that loops call and that does not make the container."""
        loop, function = file.contexts.loop(stored.where), file.contexts.function(stored.where)
        if loop is not None or stored.container is None or not outlives(file, stored.container):
            return loop
        callers = (file.values.functions.callers(function) or ()) if isinstance(function, cst.FunctionDef) else ()
        again = (file.contexts.loop(c.node) or file.contexts.comprehension(c.node) for c in callers)
        return function if any(node is not None for node in again) else None

    def _at(self, stored: Stored) -> Node:
        return stored.where if stored.container is not None else stored.item

    def _stored(self, file: File) -> Iterator[Stored]:
        """The places where a History goes into a container, by itself or in a tuple or dictionary."""
        for node in file.tree.of(cst.Call):
            func = node.func
            if isinstance(func, cst.Attribute) and func.attr.value in ADDS and node.args:
                yield from self._histories(node, func.value, node.args[-1].value, file)
        for assign in file.tree.of(cst.Assign):
            target = assign.targets[0].target
            if isinstance(target, cst.Subscript):
                yield from self._histories(assign, target.value, assign.value, file)
        for more in file.tree.of(cst.AugAssign):
            if isinstance(more.operator, cst.AddAssign) and isinstance(more.value, cst.List):
                yield from self._histories(more, more.target, more.value, file)
        comprehensions: list[cst.ListComp | cst.DictComp] = [*file.tree.of(cst.ListComp), *file.tree.of(cst.DictComp)]
        for made in comprehensions:
            yield from self._histories(made, None, made.value if isinstance(made, cst.DictComp) else made.elt, file)

    def _histories(
        self, where: Node, container: cst.BaseExpression | None, item: cst.BaseExpression, file: File
    ) -> Iterator[Stored]:
        parts, made = [item], file.written(item)
        if isinstance(made, (cst.Tuple, cst.List, cst.Dict)):
            parts = [element.value for element in made.elements]
        if isinstance(made, cst.Call) and file.call(made).name == "builtins.dict":
            parts = [arg.value for arg in made.args if arg.keyword is not None]
        for part in parts:
            value = file.value(part)
            if all(isinstance(o, Instance) and o.type_name == HISTORY for o in value.options):
                yield Stored(where, container, part)

    def _keeps(self, fit: Call, loop: Node, file: File) -> bool:
        """Whether the model of a call of `fit` is made anew in each iteration, and kept by nothing else."""
        made = [o.call for o in fit.receiver.options if isinstance(o, Instance) and o.call is not None]
        if not made or not all_models(fit.receiver, file) or len(made) < len(fit.receiver.options):
            return False
        return all(self._used_up(call, loop, file) for call in made)

    def _used_up(self, made: Call, loop: Node, file: File) -> bool:
        """Whether the loop makes the model, itself or in a function that it calls, and keeps it nowhere else."""
        node, frame = made.node, made.frame
        while not file.tree.contains(loop, node):
            if frame is None:
                return False
            node, frame = frame.call.node, frame.caller
        done = fate(node, file) if all_models(file.value(node), file) else None
        return done is None or not done.kept
