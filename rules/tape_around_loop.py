from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._rounds import Round, derived, drawn, iterated, iterators
from tfmemlint_rules._tapes import Tape, tape_of

from tfmemlint.api import Array, Call, Dataset, File, Finding, Node, Rule, Sequence, Value, on_call, walk
from tfmemlint.api import Iterator as Items

DATA_NAME = re.compile(r"(^|_)ds$|(dataset|datasets|loader|batches)$", re.IGNORECASE)

ZIPS = frozenset({"builtins.zip", "builtins.enumerate"})


class TapeAroundLoop(Rule):
    """
    ## What it does
    Reports a gradient tape whose block contains the loop over batches, with one gradient taken after the loop.

    ## Why it costs memory
    Nothing that the tape recorded is released before `gradient()`: the activations of every batch stay in memory, so
    the memory grows with the number of batches.

    ## When not to use it
    For loops over the time steps or layers of one batch, which belong inside the tape; they are not reported.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM404"
    summary = "a tape around the loop over batches keeps the activations of all of them"
    no_fix = "whether to update for each batch or to add up gradients is yours to say"

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        tape = tape_of(made, file)
        if tape is None or not tape.gradients:
            return
        for node in walk(tape.block.body):
            round_ = node if isinstance(node, (cst.For, cst.While, cst.ListComp, cst.GeneratorExp)) else None
            if round_ is not None and self._over_batches(round_, file) and self._after(tape, round_, file):
                yield self.finding(
                    tape.block,
                    file,
                    "this tape records every batch of the loop inside it: the activations of all of them stay in "
                    "memory until gradient(); make the tape inside the loop",
                    related=[(round_, "the loop over batches")],
                )
                return

    def _after(self, tape: Tape, loop: Round, file: File) -> bool:
        """Whether gradients are taken after the loop, and neither one nor another tape's inside it."""
        inner = any(isinstance(n, cst.Call) and file.call(n).name == "tf.GradientTape" for n in walk(loop))
        return not inner and not any(file.tree.contains(loop, gradient.node) for gradient in tape.gradients)

    def _over_batches(self, loop: Round, file: File) -> bool:
        if isinstance(loop, cst.While):
            return self._draws(loop, file)
        if isinstance(loop, (cst.ListComp, cst.GeneratorExp)):
            return self._is_data(loop.for_in.iter, file) and self._records(loop, loop.elt, loop.for_in.target)
        if file.contexts.over_data(loop) or self._is_data(loop.iter, file):
            return self._records(loop, loop.body, loop.target)
        return self._slices(loop) or self._draws(loop, file)

    def _is_data(self, over: cst.BaseExpression, file: File) -> bool:
        """Whether what is iterated is a pipeline, or called like one where it is unknown or tensors."""
        if isinstance(over, cst.Call) and file.call(over).name in ZIPS:
            return any(self._is_data(arg.value, file) for arg in over.args)
        value = file.value(over)
        tensors = self._tensors(value)
        while isinstance(value, Items):
            value = value.of
        pipeline = all(isinstance(option, Dataset) for option in value.options)
        if pipeline or (value.known and not tensors):
            return pipeline
        named = iterated(over)
        last = named.attr.value if isinstance(named, cst.Attribute) else getattr(named, "value", "")
        return isinstance(last, str) and DATA_NAME.search(last) is not None

    def _tensors(self, value: Value) -> bool:
        """Whether a list of tensors with an axis for the examples is iterated."""
        if isinstance(value, Items):
            items: tuple[Value, ...] = (value.item,)
        else:
            items = value.items if isinstance(value, Sequence) else ()
        return bool(items) and all(isinstance(item, Array) and len(item.shape or ()) > 1 for item in items)

    def _records(self, loop: Round, body: Node, target: Node) -> bool:
        """Whether a body calls something on the items, or on parts of them."""
        bound = derived(loop, target)
        return any(
            isinstance(n, cst.Call)
            and any(isinstance(m, cst.Name) and m.value in bound for a in n.args for m in walk(a.value))
            for n in walk(body)
        )

    def _slices(self, loop: cst.For) -> bool:
        """`for i in range(...)` with slices of the first axis such as `x[i : i + batch]` in the body."""
        if not isinstance(loop.target, cst.Name):
            return False
        counted = derived(loop, loop.target, plain=True)
        for node in walk(loop.body):
            part = node.slice[0].slice if isinstance(node, cst.Subscript) and node.slice else None
            if isinstance(part, cst.Slice) and all(self._reads(e, counted) for e in (part.lower, part.upper)):
                return True
        return False

    def _reads(self, expression: cst.BaseExpression | None, names: set[str]) -> bool:
        return expression is not None and any(isinstance(n, cst.Name) and n.value in names for n in walk(expression))

    def _draws(self, loop: cst.For | cst.While, file: File) -> bool:
        """`next(iterator)` or `iterator.get_next()` of a pipeline in the body."""
        for node in walk(loop.body):
            source = drawn(node, file) if isinstance(node, cst.Call) else None
            if source is not None:
                value = file.value(source)
                if isinstance(value, Items) and all(isinstance(o, Dataset) for o in value.of.options):
                    return True
                if any(self._is_data(made, file) for made in iterators(source, file)):
                    return True
        return False
