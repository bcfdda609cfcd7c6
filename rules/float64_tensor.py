from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._float64_tensor import (
    NUMPY_LIKE,
    cast_back,
    float64_bytes,
    float_bound,
    is_one_number,
    narrowed,
    numpy_like_elements,
)

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, Span, on, on_call, show_halved, tensors

BY_NAME = "float64 takes twice the memory of float32"
TWICE = "twice the memory of float32{cost}"


class Float64Tensor(Rule):
    """
    ## What it does
    Reports tensors, variables, inputs, layers and casts that are made float64 by name: `dtype=tf.float64`,
    `"float64"`, `np.float64`, `tf.cast(x, tf.float64)`, and arrays that are given it and enter TensorFlow. Also what
    is float64 by accident: `tf.linspace` with whole-number bounds, the quotient of integer tensors, and
    `tf.experimental.numpy`, which has NumPy's default.

    ## Why it costs memory
    A float64 tensor takes twice the bytes of a float32 one, and everything computed from it does too: activations,
    gradients, optimizer slots.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed: Gaussian processes, factorisations, differential equations. Modules that set a float64
    policy, that use a numerical library built on float64, or that are unit tests are not reported.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    """

    code = "TFM201"
    summary = "float64 tensors take twice the memory of float32"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(tensors.given_float64)
    def by_name(self, given: tensors.GivenDtype, file: File) -> Iterator[Finding]:
        made = given.made
        if not (is_one_number(file, made) or tensors.float64_asked_for(file, made.node) or cast_back(file, made)):
            size = None if file.contexts.mapped(made.node) else float64_bytes(made)  # one element's, and there are many
            yield from self._report(file, made, BY_NAME + show_halved(size), size, narrowed(file, given.dtype))

    @on(tensors.arrays_entering)
    def array_by_name(self, entering: tensors.Entering, file: File) -> Iterator[Finding]:
        size, made = entering.array.bytes, entering.array.dtype_call
        dtype = made.arg("dtype") if made is not None and entering.array.dtype == "float64" else None
        if made is not None and dtype is not None and tensors.says_float64(dtype) and entering.array.shape != ():
            what = BY_NAME + show_halved(size)
            yield from self._report(file, made, what, size, narrowed(file, dtype), by=entering.taker)

    @on_call("tf.linspace")
    def bounds(self, made: Call, file: File) -> Iterator[Finding]:
        if isinstance(made.value, Array) and made.value.dtype == "float64":
            fix = Fix.unsafe("give float bounds", *(float_bound(file, made.arg(name)) for name in ("start", "stop")))
            what = f"linspace() with whole-number bounds is float64, {TWICE}"
            yield from self._report(file, made, what, made.value.bytes, fix)

    @on(tensors.divided_integers)
    def quotient(self, division: tensors.Division, file: File) -> Iterator[Finding]:
        mapped, result = file.contexts.mapped(division.node), division.result
        if result.shape and (result.bytes is not None or mapped):  # else a part of a shape or a count
            what = f"dividing {division.dtype} tensors gives float64 where float32 would do, {TWICE}"
            yield from self._report(file, file.span(division.node), what, None if mapped else result.bytes)

    @on_call(*NUMPY_LIKE)
    def numpy_like(self, made: Call, file: File) -> Iterator[Finding]:
        count, what = numpy_like_elements(file, made), "tf.experimental.numpy makes float64 as NumPy does"
        if count != 1:
            yield from self._report(file, made, f"{what}, {TWICE}", None if count is None else 8 * count)

    def _report(
        self, file: File, at: Call | Span, what: str, size: int | None, fix: Fix | None = None, by: Call | None = None
    ) -> Iterator[Finding]:
        if not tensors.float64_by_design(file) and (size is None or size >= file.config.min_bytes):
            related = [(by, "enters TensorFlow here")] if by is not None else []
            yield self.finding(at, file, what, fix=fix, related=related, bytes=size)
