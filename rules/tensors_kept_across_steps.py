from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._tensors_kept_across_steps import copied, kept_kind, of_several

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    facts,
    fixes,
    flow,
    limits,
    on,
    repetition,
    tracing,
)

MESSAGE = "the {} of every step stay in device memory; keep .numpy() of them, or a metric"


class TensorsKeptAcrossSteps(Rule):
    """
    ## What it does
    Reports predictions, activations and gradients that a training or evaluation loop puts into a list or dictionary
    that collects its steps.

    ## Why it costs memory
    Each of these tensors stays in device memory until the loop is over: the outputs of all steps together instead of
    those of one. Scalars such as losses are a few bytes each, do not hold anything else, and are not reported.

    ## Fix safety
    Unsafe: the list holds NumPy arrays then.

    ## When not to use it
    When all outputs fit and are used as tensors afterwards. A forward pass in pieces, a method of a model that joins
    and returns what the model gives, is not reported, nor what traced code computes with later, such as the targets of
    a loss, nor a list of which only the mean of all numbers is taken, as of the values of a loss. Nor are outputs of
    blocks that a loop makes anew for each part of a network, those of the devices that a loop goes over, those of a
    network that a loop gives its own state back for each time step of a sequence, and columns of numbers (`out[:, 0]`
    and `out[:, 1]`, also `out[:, 0] * 25.0`): one for each example.

    ## References
    - https://www.tensorflow.org/guide/gpu
    """

    code = "TFM406"
    summary = "outputs kept as tensors fill device memory step by step"
    fix_safety = (Safety.UNSAFE,)

    @on(flow.repeated_puts)
    def put(self, found: tuple[flow.Put, repetition.Repetition], file: File) -> Iterator[Finding]:
        put, loop = found
        if flow.collects(file, put.container, loop) and _keeps_data(file, put, loop):
            step = file.contexts.function(put.node) if loop.calls else loop.place
            parts = [part for each in put.parts for part in copied(each)]
            yield from self._report(file, put.where, parts, step or loop.place, loop, put.container)

    @on(facts.comprehensions)
    def collected(self, made: cst.BaseComp, file: File) -> Iterator[Finding]:
        kept = made.value if isinstance(made, cst.DictComp) else getattr(made, "elt", None)
        loop = repetition.repeats(file, kept, calls=0) if isinstance(kept, cst.Call) else None
        if isinstance(kept, cst.Call) and loop is not None and loop.over_data and not file.contexts.traced(kept):
            yield from self._report(file, file.call(kept), [kept], loop.place, loop)

    def _report(
        self, file: File, where: Call | Node, parts: list[cst.BaseExpression], step: Node, loop: repetition.Repetition,
        container: cst.BaseExpression | None = None,
    ) -> Iterator[Finding]:  # fmt: skip
        kinds = [(part, kind) for part in parts if (kind := kept_kind(file, part, step)) is not None]
        if not kinds or loop.few(limits.FEW_STEPS) or tracing.on_own_device(file, kinds[0][0], loop):
            return
        meant = (repetition.joined_to_return, repetition.traced_with, repetition.only_averaged)
        if container is not None and any(asks(file, container) for asks in meant):
            return
        whole = all(kind == "outputs" and not of_several(file, part) for part, kind in kinds)
        edits = [fixes.append_method(file, part, ".numpy()") for part, _ in kinds]
        if not whole or (container is not None and repetition.read_as_tensors(file, container)):
            edits = []
        yield self.finding(
            where,
            file,
            MESSAGE.format(kinds[0][1]),
            fix=Fix.unsafe("keep them in host memory", edits),
            related=[(loop.place, "the loop")],
        )


def _keeps_data(file: File, put: flow.Put, loop: repetition.Repetition) -> bool:
    """Whether what is kept is made eagerly, not for a tape around the step, nor of a model that is being built."""
    blocks = (block for block in file.contexts.withs(put.node) if file.tree.contains(block, loop.place))
    entered = (item.item for block in blocks for item in block.items)
    if any(isinstance(kind, Array) for kind in file.value(put.container).options):
        return False
    taped = any(isinstance(call, cst.Call) and file.call(call).name == "tf.GradientTape" for call in entered)
    home, at = file.contexts.function(put.node), file.tree.order(put.node)
    models = (made.node for made in file.calls("tf.keras.Model") if home is not None and len(made.node.args) > 1)
    builds = any(file.tree.order(made) > at and file.contexts.function(made) is home for made in models)
    return not taped and not builds and not file.contexts.traced(put.node)
