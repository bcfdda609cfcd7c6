from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Array,
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Severity,
    knowledge,
    on_call,
    outer_span,
    show_bytes,
    written,
)

SAME_VALUES = frozenset({"tf.zeros", "tf.ones", "tf.zeros_like", "tf.ones_like", "tf.eye"})
RANDOM = frozenset({"tf.random.normal", "tf.random.uniform", "tf.random.truncated_normal"})


class CreatedThenCast(Rule):
    """
    ## What it does
    Gives the advice to make a tensor in the dtype that it is cast to at once: `tf.cast(tf.ones(shape), dtype)`.

    ## Why it costs memory
    Both tensors exist while the cast runs: the peak is the sum of the two.

    ## Fix safety
    Safe for zeros, ones, identities and ranges of whole numbers, whose values are the same. Shown only for random
    numbers, which are drawn differently for each dtype, and for ranges of floats, which round at each step.

    ## When not to use it
    In traced code the compiler may do it for you.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/cast
    """

    code = "TFM206"
    summary = "making a tensor and casting it holds both"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.SAFE, Safety.DISPLAY)

    @on_call("tf.cast")
    def check(self, cast: Call, file: File) -> Iterator[Finding]:
        made_of, dtype = cast.arg("x"), cast.arg("dtype")
        node = self._made(made_of.expression, file) if made_of is not None else None
        if node is None or dtype is None:
            return
        made = file.call(node)
        if made.name not in SAME_VALUES | RANDOM | {"tf.range"} or made.arg("dtype") is not None or made.open:
            return
        size = made.value.bytes if isinstance(made.value, Array) else None
        if size is not None and size < file.config.min_bytes:
            return
        cost = f" ({show_bytes(size)} more)" if size is not None else ""
        yield self.finding(
            cast, file, f"the tensor is made in one dtype and cast to another: both exist at once{cost}",
            fix=self._at_once(cast, made, file), bytes=size,
        )  # fmt: skip

    def _made(self, expression: cst.BaseExpression, file: File) -> cst.Call | None:
        """The call that makes what is cast, at once or in an assignment whose name nothing else reads."""
        made = file.written(expression)
        if isinstance(expression, cst.Name):
            definitions = file.definitions(expression)
            if any(len(file.readers(d)) != 1 for d in written(definitions)):
                return None
        return made if isinstance(made, cst.Call) else None

    def _at_once(self, cast: Call, made: Call, file: File) -> Fix | None:
        dtype = cast.arg("dtype")
        if (
            dtype is None
            or not file.tree.contains(cast.node, made.node)
            or not made.node.args
            or len(cast.node.args) != 2
            or knowledge.signature(made.name or "") is None
        ):
            return None
        whole, inner = file.span(cast.node), file.span(made.node)
        last = outer_span(file, made.node.args[-1].value)
        text = file.source.text
        if "#" in text[whole.start : inner.start] + text[inner.end : whole.end]:
            return None  # a comment would go
        edits = (
            Edit(whole.start, inner.start, ""),
            Edit(last.end, last.end, f", dtype={file.text(dtype.expression)}"),
            Edit(inner.end, whole.end, ""),
        )
        same = made.name in SAME_VALUES or (made.name == "tf.range" and _whole_numbers(cast, made))
        return Fix("make it in that dtype", edits, Safety.SAFE if same else Safety.DISPLAY)


def _whole_numbers(cast: Call, made: Call) -> bool:
    """Whether a range of integers is cast to integers: a range of floats is added up and rounded at each step."""
    before, after = made.value, cast.value
    return all(isinstance(v, Array) and (v.dtype or "").startswith(("int", "uint")) for v in (before, after))
