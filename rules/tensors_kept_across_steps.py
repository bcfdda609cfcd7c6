from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._steps import ends_soon, given, is_short, kept_kind, runs_model, several_outputs
from tfmemlint_rules._stored import Stored, bounded, read_as_tensors, stored

from tfmemlint.api import Array, Dataset, File, Finding, Fix, Rule, Safety, dotted, on_file, walk
from tfmemlint.api import Iterator as Items
from tfmemlint.fix.edits import append_method

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

    ## Example
    ```python
    for x, y in dataset:
        predictions.append(model(x, training=False))
    ```
    Keep them in host memory:
    ```python
    for x, y in dataset:
        predictions.append(model(x, training=False).numpy())
    ```

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
            yield from self._kept(put, file)
        for made in file.tree.of(cst.ListComp):
            yield from self._listed(made, file)

    def _listed(self, made: cst.ListComp, file: File) -> Iterator[Finding]:
        """`[model(x) for x in dataset]`."""
        items = file.value(made.for_in.iter)
        while isinstance(items, Items) and items.function in ("enumerate", "tqdm", "iter"):
            items = items.of
        if not all(isinstance(o, Dataset) for o in items.options) or file.contexts.traced(made):
            return
        bound = {n.value for n in walk(made.for_in.target) if isinstance(n, cst.Name)}
        if is_short(made.for_in.iter, file) or not isinstance(made.elt, cst.Call):
            return
        call = file.call(made.elt)
        if runs_model(call) and given(call, bound):
            edit = append_method(file, made.elt, ".numpy()")
            fix = Fix("keep them in host memory", (edit,), Safety.UNSAFE)
            yield self.finding(call, file, MESSAGE.format("outputs"), fix=fix, related=[(made, "the loop")])

    def _kept(self, put: Stored, file: File) -> Iterator[Finding]:
        loop = file.contexts.loop(put.node)
        if loop is None or file.contexts.traced(put.node) or ends_soon(loop, file):
            return
        if any(file.tree.contains(block, loop) and self._tapes(block, file) for block in file.contexts.withs(put.node)):
            return  # the loss is made of them; a tape around the loop is another rule's business
        if isinstance(file.value(put.container), Array) or not self._outlives(put.container, loop, file):
            return
        found = [(part, what) for part in put.parts if (what := kept_kind(part, loop, file)) is not None]
        if not found or bounded(put.container, file):
            return
        what = found[0][1]
        fix = None
        whole = all(kind == "outputs" and not self._several(part, file) for part, kind in found)
        if whole and not read_as_tensors(put.container, file):
            edits = tuple(append_method(file, part, ".numpy()") for part, _ in found)
            fix = Fix("keep them in host memory", edits, Safety.UNSAFE)
        yield self.finding(put.where, file, MESSAGE.format(what), fix=fix, related=[(loop, "the loop")])

    def _several(self, part: cst.BaseExpression, file: File) -> bool:
        value = file.value(part)
        return isinstance(value, Array) and value.origin is not None and several_outputs(value.origin)

    def _tapes(self, block: cst.With, file: File) -> bool:
        calls = (item.item for item in block.items)
        return any(isinstance(call, cst.Call) and file.call(call).name == "tf.GradientTape" for call in calls)

    def _outlives(self, container: cst.BaseExpression, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the container, or what it is a part of, was made before the loop, which does not empty it."""
        while isinstance(container, cst.Subscript):
            container = container.value
        path = dotted(container)
        for node in walk(loop.body):
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in EMPTIES:
                if dotted(node.func.value) == path:
                    return False
        if not isinstance(container, cst.Name):
            return isinstance(container, cst.Attribute)
        definitions = file.definitions(container)
        return bool(definitions) and not any(
            file.tree.contains(loop, d.node) and not isinstance(d.value, cst.AugAssign) for d in definitions
        )
