from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._models import all_models

from tfmemlint.api import Binds, Call, Definition, File, Finding, Fix, Node, Rule, Safety, on_call
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import append_method

ADDS = frozenset({"append", "insert"})


class HistoryKeepsModel(Rule):
    """
    ## What it does
    Reports `History` objects of `fit` that are stored in a list or dictionary in a loop over trials.

    ## Why it costs memory
    A `History` is a callback and refers to its model: a list of them keeps every model of the loop alive, with weights
    and optimizer slots. The numbers are in its `.history` dictionary.

    ## Example
    ```python
    histories.append(model.fit(x, y))
    ```
    Keep the numbers:
    ```python
    histories.append(model.fit(x, y).history)
    ```

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

    @on_call("tf.keras.Model.fit")
    def check(self, fit: Call, file: File) -> Iterator[Finding]:
        loop = file.contexts.loop(fit.node)
        if loop is None or not all_models(fit.receiver, file) or not self._new_model(fit, loop, file):
            return
        for where, container in self._stored(fit, file):
            yield self.finding(
                where,
                file,
                "each stored History keeps its model alive, with weights and optimizer slots; store its .history",
                fix=self._numbers(fit, container, file),
                related=[(fit, "the History comes from here")],
            )

    def _new_model(self, fit: Call, loop: Node, file: File) -> bool:
        """Whether the loop makes a model of its own for each call."""
        receiver = fit.receiver_node
        if not isinstance(receiver, cst.Name):
            return isinstance(receiver, cst.Call)
        definitions = file.flow(file.scope_of(receiver)).uses.get(id(receiver), ())
        return bool(definitions) and any(file.tree.contains(loop, d.node) for d in definitions)

    def _stored(self, fit: Call, file: File) -> Iterator[tuple[Call | Node, cst.BaseExpression]]:
        for use in self._values(fit, file):
            parent = file.tree.parent(use)
            if isinstance(parent, cst.Arg):
                call = file.tree.parent(parent)
                if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in ADDS:
                    yield file.call(call), call.func.value
            if (
                isinstance(parent, cst.Assign)
                and parent.value is use
                and isinstance(parent.targets[0].target, cst.Subscript)
            ):
                yield parent, parent.targets[0].target.value

    def _values(self, fit: Call, file: File) -> list[Node]:
        """The expressions that are this History: the call itself and the names it is assigned to."""
        assign = file.tree.parent(fit.node)
        if not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Name):
            return [fit.node]
        target = assign.targets[0].target
        made = [d for d in file.flow(file.scope_of(target)).bindings.get(target.value, ()) if d.node is target]
        return [use for d in made for use in file.uses_of(d)]

    def _numbers(self, fit: Call, container: cst.BaseExpression, file: File) -> Fix | None:
        """Append `.history` here and drop it where items of the container are read."""
        if not isinstance(container, cst.Name) or not isinstance(file.tree.parent(fit.node), cst.Arg):
            return None
        edits = [append_method(file, fit.node, ".history")]
        for use in file.loads(container.value):
            if file.tree.contains(file.tree.statement(fit.node), use):
                continue
            reads = self._reads(use, file)
            if reads is None:
                return None
            edits += reads
        return Fix("store the numbers", tuple(sorted(edits)), Safety.SAFE)

    def _reads(self, use: cst.Name, file: File) -> list[Edit] | None:
        """Edits that drop `.history` from the uses of one item; None where anything else of it is used."""
        parent = file.tree.parent(use)
        if isinstance(parent, (cst.For, cst.CompFor)) and parent.iter is use and isinstance(parent.target, cst.Name):
            scope = file.scope_of(parent)
            name = parent.target.value
            uses = [
                n
                for n in file.loads(name)
                if any(self._is_item(d, parent.target) for d in file.flow(scope).uses.get(id(n), ()))
            ]
            edits = [self._drop(n, file) for n in uses]
            return [e for e in edits if e is not None] if None not in edits and edits else None
        if isinstance(parent, cst.Subscript) and parent.value is use:
            edit = self._drop(parent, file)
            return [edit] if edit is not None else None
        return None

    def _is_item(self, definition: Definition, target: cst.Name) -> bool:
        return definition.node is target and definition.binds is Binds.ITEM

    def _drop(self, item: Node, file: File) -> Edit | None:
        attribute = file.tree.parent(item)
        if not isinstance(attribute, cst.Attribute) or attribute.value is not item or attribute.attr.value != "history":
            return None
        return Edit(file.span(item).end, file.span(attribute).end, "")
