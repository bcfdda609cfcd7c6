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
    fixes,
    flow,
    on_call,
    show_bytes,
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
        given = cast.arg("x")
        node = (
            file.written(given.expression) if given is not None and flow.only_reader(file, given.expression) else None
        )
        made = file.call(node) if isinstance(node, cst.Call) else None
        if made is None or made.name not in SAME_VALUES | RANDOM | {"tf.range"} or made.open:
            return
        size = made.value.bytes if isinstance(made.value, Array) else None
        if made.arg("dtype") is None and (size is None or size >= file.config.min_bytes):
            same = made.name in SAME_VALUES or (made.name == "tf.range" and _whole_numbers(cast, made))
            cost = f" ({show_bytes(size)} more)" if size is not None else ""
            yield self.finding(
                cast,
                file,
                f"the tensor is made in one dtype and cast to another: both exist at once{cost}",
                fix=(Fix.safe if same else Fix.shown)("make it in that dtype", _at_once(file, cast, made)),
                bytes=size,
            )


def _at_once(file: File, cast: Call, made: Call) -> tuple[Edit, ...] | None:
    """The call alone, with the dtype; None where it stands elsewhere or comments would go."""
    dtype = cast.arg("dtype")
    if dtype is None or not file.tree.contains(cast.node, made.node) or len(cast.node.args) != 2:
        return None
    whole, inner, text = file.span(cast.node), file.span(made.node), file.source.text
    given = fixes.add_argument(file, made.node, f"dtype={file.text(dtype.expression)}")
    if given is None or "#" in text[whole.start : inner.start] + text[inner.end : whole.end]:
        return None
    return (Edit(whole.start, inner.start, ""), given, Edit(inner.end, whole.end, ""))


def _whole_numbers(cast: Call, made: Call) -> bool:
    """Whether a range of integers is cast to integers: a range of floats is added up and rounded at each step."""
    before, after = made.value, cast.value
    return all(isinstance(v, Array) and (v.dtype or "").startswith(("int", "uint")) for v in (before, after))
