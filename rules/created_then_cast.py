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
    integer,
    on_call,
    show_bytes,
)

SAME_VALUES = frozenset({"tf.zeros", "tf.ones", "tf.zeros_like", "tf.ones_like", "tf.eye"})
WHOLE = {"int32": 31, "int64": 63, "float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
"""Dtypes that TensorFlow makes ranges in, and up to which power of two they hold each whole number."""

RANDOM = frozenset({"tf.random.normal", "tf.random.uniform", "tf.random.truncated_normal"})


class CreatedThenCast(Rule):
    """
    ## What it does
    Gives the advice to make a tensor in the dtype that it is cast to at once: `tf.cast(tf.ones(shape), dtype)`.

    ## Why it costs memory
    Both tensors exist while the cast runs: the peak is the sum of the two.

    ## Fix safety
    Safe for zeros, ones, identities and ranges of whole numbers, whose values are the same. Shown only for random
    numbers, which are drawn differently for each dtype, and for ranges to a floating point dtype whose bounds are not
    known: the dtype must hold them exactly (float32 up to 16777216), or the range has another length. Where they are
    known not to fit, or a range cannot be made in the dtype at all (`uint8`, `int8`), nothing is reported.

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
        same = made.name in SAME_VALUES if made.name != "tf.range" else _same_range(cast, made)
        if same is None:
            return
        size = made.value.bytes if isinstance(made.value, Array) else None
        if made.arg("dtype") is None and (size is None or size >= file.config.min_bytes):
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


def _same_range(cast: Call, made: Call) -> bool | None:
    """Whether a range has the same numbers if it is made in the dtype that it is cast to; False where its bounds are
    not known, None where it cannot be made so or has others."""
    before, after = (value.dtype if isinstance(value, Array) else "" for value in (made.value, cast.value))
    if not after:
        return False
    if after not in WHOLE or (before not in ("int32", "int64") and before):
        return None
    bounds = [integer(made.value_of(i)) for i in range(3) if made.arg(i) is not None]
    known = [bound for bound in bounds if bound is not None]
    if len(known) < len(bounds):
        return bool(before) and after.startswith("int")
    return True if all(abs(bound) <= 1 << WHOLE[after] for bound in known) else None
