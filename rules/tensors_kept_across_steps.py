from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._steps import Steps, ends_soon, is_short, kept_kind, several_outputs
from tfmemlint_rules._stored import Stored, bounded, read_as_tensors, stored

from tfmemlint.api import (
    Array,
    Dataset,
    File,
    Finding,
    Fix,
    Loop,
    Node,
    Rule,
    Safety,
    append_method,
    dotted,
    on_file,
    once_per_file,
    written,
)
from tfmemlint.api import Iterator as Items

EMPTIES = frozenset({"clear", "pop", "popleft"})
MESSAGE = "the {} of every step stay in device memory; keep .numpy() of them, or a metric"


class TensorsKeptAcrossSteps(Rule):
    """
    ## What it does
    Reports predictions, activations and gradients that a training or evaluation loop puts into a list or dictionary
    that outlives its steps.

    ## Why it costs memory
    Each of these tensors stays in device memory until the loop is over: the outputs of all steps together instead of
    those of one. Scalars such as losses are a few bytes each, do not hold anything else, and are not reported.

    ## Fix safety
    Unsafe: the list holds NumPy arrays then.

    ## When not to use it
    When all outputs fit and are used as tensors afterwards.

    ## References
    - https://www.tensorflow.org/guide/gpu
    """

    code = "TFM406"
    summary = "outputs kept as tensors fill device memory step by step"
    fix_safety = (Safety.UNSAFE,)

    @on_file("append", "extend", "for", "while")
    def check(self, file: File) -> Iterator[Finding]:
        for put in stored(file):
            loop = file.contexts.loop(put.node)
            for steps, around in [(loop, loop)] if loop is not None else self._called_steps(put, file):
                yield from self._kept(put, steps, around, file)
        made: list[cst.ListComp | cst.DictComp] = [*file.tree.of(cst.ListComp), *file.tree.of(cst.DictComp)]
        for comprehension in made:
            yield from self._listed(comprehension, file)

    def _listed(self, made: cst.ListComp | cst.DictComp, file: File) -> Iterator[Finding]:
        """`[model(x) for x in dataset]`, `{i: model(x) for i, x in enumerate(dataset)}`."""
        items = file.value(made.for_in.iter)
        while isinstance(items, Items) and items.function in ("enumerate", "tqdm", "iter"):
            items = items.of
        if not all(isinstance(o, Dataset) for o in items.options) or file.contexts.traced(made):
            return
        kept = made.value if isinstance(made, cst.DictComp) else made.elt
        what = kept_kind(kept, made, file)
        if what is None or is_short(made.for_in.iter, file) or not isinstance(kept, cst.Call):
            return
        fix = None
        if not self._several(kept, file):
            fix = Fix("keep them in host memory", (append_method(file, kept, ".numpy()"),), Safety.UNSAFE)
        yield self.finding(file.call(kept), file, MESSAGE.format(what), fix=fix, related=[(made, "the loop")])

    def _called_steps(self, put: Stored, file: File) -> list[tuple[Steps, Loop]]:
        """The method that stores on its object, with the loop that calls it for each step."""
        method, path = file.contexts.function(put.node), dotted(put.container)
        if not isinstance(method, cst.FunctionDef) or path is None or not path.startswith("self."):
            return []
        if self._emptied(path, file.module, file):
            return []
        called = [file.contexts.loop(call.node) for call in file.values.functions.callers(method) or ()]
        loop = next((loop for loop in called if loop is not None), None)
        return [(method, loop)] if loop is not None else []

    def _kept(self, put: Stored, steps: Steps, loop: Loop, file: File) -> Iterator[Finding]:
        if file.contexts.traced(put.node) or ends_soon(loop, file):
            return
        blocks = [block for block in file.contexts.withs(put.node) if file.tree.contains(block, steps)]
        if any(self._tapes(block, file) for block in blocks):
            return  # the loss is made of them; a tape around the loop is another rule's business
        if isinstance(file.value(put.container), Array) or not self._outlives(put.container, steps, file):
            return
        found = [(part, what) for part in put.parts if (what := kept_kind(part, steps, file)) is not None]
        if not found or bounded(put.container, file) or self._builds(put, file):
            return
        what = found[0][1]
        fix = None
        whole = all(kind == "outputs" and not self._several(part, file) for part, kind in found)
        if whole and not read_as_tensors(put.container, file):
            edits = tuple(append_method(file, part, ".numpy()") for part, _ in found)
            fix = Fix("keep them in host memory", edits, Safety.UNSAFE)
        yield self.finding(put.where, file, MESSAGE.format(what), fix=fix, related=[(loop, "the loop")])

    def _builds(self, put: Stored, file: File) -> bool:
        """Whether the function makes a functional model after the loop: what it collects stands for no data."""
        home, at = file.contexts.function(put.node), file.tree.order(put.node)
        return home is not None and _last_model(file).get(id(home), -1) > at

    def _several(self, part: cst.BaseExpression, file: File) -> bool:
        value = file.value(part)
        return isinstance(value, Array) and value.origin is not None and several_outputs(value.origin)

    def _tapes(self, block: cst.With, file: File) -> bool:
        calls = (item.item for item in block.items)
        return any(isinstance(call, cst.Call) and file.call(call).name == "tf.GradientTape" for call in calls)

    def _outlives(self, container: cst.BaseExpression, steps: Steps, file: File) -> bool:
        """Whether the container, or what it is a part of, was made before the loop, which does not empty it."""
        while isinstance(container, cst.Subscript):
            container = container.value
        if self._emptied(dotted(container), steps, file):
            return False
        if not isinstance(container, cst.Name):
            return isinstance(container, cst.Attribute)
        definitions = file.definitions(container)
        if not definitions:  # a list of the module that a function adds to
            return file.written(container) is not container and not self._emptied(container.value, file.module, file)
        return not any(
            file.tree.contains(steps, d.node) and not isinstance(d.value, cst.AugAssign) for d in written(definitions)
        )

    def _emptied(self, path: str | None, inside: Node, file: File) -> bool:
        """Whether some code takes out what a container holds; for a whole module also whether it begins a new one."""
        body = inside.body if isinstance(inside, (cst.For, cst.While)) else inside
        calls = (call for word in EMPTIES for call in file.method_calls.get((word, path), ()))
        if any(file.tree.contains(body, call) for call in calls):
            return True
        again = file.assigned_paths.get(path, ()) if path is not None and inside is file.module and "." in path else ()
        return any(not _first(assign, file) for assign in again)


@once_per_file
def _last_model(file: File) -> dict[int, int]:
    """The place of the last functional model that each function (by id) makes."""
    made = [call.node for call in file.calls("tf.keras.Model") if len(call.node.args) > 1]
    return {id(file.contexts.function(node)): file.tree.order(node) for node in sorted(made, key=file.tree.order)}


def _first(assign: Node, file: File) -> bool:
    function = file.contexts.function(assign)
    return isinstance(function, cst.FunctionDef) and function.name.value == "__init__"
