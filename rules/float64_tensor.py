from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfmemlint_rules._float64_tensor import (
    NUMPY_LIKE,
    begins_before,
    float64_bytes,
    float_bounds,
    given_dtype,
    is_large,
    is_lost,
    is_one_number,
    narrowed,
    narrowed_alone,
    narrowed_array,
    numpy_like_elements,
)

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, Span, on, on_call, show_halved, tensors

BY_NAME = "float64 takes twice the memory of float32"
TWICE = "twice the memory of float32{cost}"
Related = Sequence[tuple[Call, str]]


class Float64Tensor(Rule):
    """
    ## What it does
    Reports large tensors, variables, inputs, layers and casts that are made float64 by name: `dtype=tf.float64`,
    `"float64"`, `np.float64`, `tf.cast(x, tf.float64)`, and arrays that are given it and enter TensorFlow. Also what
    is float64 by accident: `tf.linspace` with whole-number bounds, the quotient of integer tensors, and
    `tf.experimental.numpy`, which has NumPy's default.

    Who writes float64 has mostly chosen it, so what is not known to be large is not reported: tensors from `min-bytes`
    up, layers with 1 MiB of weights, inputs of 64 KiB for each example, images and the like in the elements of a
    pipeline, and arrays that `fit`, `evaluate` or `predict` cast to float32 anyway. Of tensors that are computed
    together, the first is reported.

    ## Why it costs memory
    A float64 tensor takes twice the bytes of a float32 one, and everything computed from it does too: activations,
    gradients, optimizer slots.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16. There is none where a tensor is computed with others whose dtype
    is not known, as TensorFlow refuses to compute with two dtypes.

    ## When not to use it
    Where the digits are needed: Gaussian processes, factorisations, differential equations. Modules that set a float64
    policy, that use a numerical library built on float64, or that are unit tests are not reported, nor functions that
    solve or factorise matrices with the tensor, or cast back what they have computed.

    ## References
    - https://www.tensorflow.org/guide/mixed_precision
    """

    code = "TFM201"
    summary = "float64 tensors take twice the memory of float32"
    spared = 0.5  # the same numbers as float32
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(tensors.given_float64)
    def by_name(self, given: tensors.GivenDtype, file: File) -> Iterator[Finding]:
        made, size = given.made, float64_bytes(file, given.made)
        together = tensors.float64_together(file, made) or [made]
        first = not begins_before(made) and together[0].node is made.node
        if first and not is_one_number(file, made) and is_large(file, made, size):
            if not tensors.wants_digits(file, made):
                related = [(other, "computed with it in float64") for other in together[1:]]
                yield from self._report(file, made, BY_NAME + show_halved(size), size, narrowed(file, made), related)

    @on(tensors.arrays_entering)
    def array_by_name(self, entering: tensors.Entering, file: File) -> Iterator[Finding]:
        dtype, made, size = given_dtype(file, entering), entering.array.dtype_call, entering.array.bytes
        if made is not None and dtype is not None and not tensors.is_little(file, entering):
            fix = narrowed_array(file, dtype, entering.taker)
            related = [
                (entering.taker, "cast to float32 here" if is_lost(entering.taker) else "enters TensorFlow here")
            ]
            yield from self._report(file, made, BY_NAME + show_halved(size), size, fix, related)

    @on_call("tf.linspace")
    def bounds(self, made: Call, file: File) -> Iterator[Finding]:
        if isinstance(made.value, Array) and made.value.dtype == "float64":
            what, size = f"linspace() with whole-number bounds is float64, {TWICE}", made.value.bytes
            if size is not None and size >= file.config.min_bytes:
                yield from self._report(file, made, what, size, float_bounds(file, made))

    @on(tensors.divided_integers)
    def quotient(self, division: tensors.Division, file: File) -> Iterator[Finding]:
        mapped, size = file.contexts.mapped(division.node), division.result.bytes
        what = f"dividing {division.dtype} tensors gives float64 where float32 would do, {TWICE}"
        if mapped and len(division.result.shape or ()) > 1:  # a row or less of each element is no burden
            yield from self._report(file, file.span(division.node), what, None)
        elif not mapped and size is not None and size >= file.config.min_bytes:
            yield from self._report(file, file.span(division.node), what, size)

    @on_call(*NUMPY_LIKE)
    def numpy_like(self, made: Call, file: File) -> Iterator[Finding]:
        count, what = numpy_like_elements(file, made), "tf.experimental.numpy makes float64 as NumPy does"
        size = None if count is None else 8 * count
        if count != 1 and (size is None or size >= file.config.min_bytes):
            yield from self._report(file, made, f"{what}, {TWICE}", size)

    def _report(
        self, file: File, at: Call | Span, what: str, size: int | None, fix: Fix | None = None, related: Related = ()
    ) -> Iterator[Finding]:
        if not tensors.float64_by_design(file):
            contrast = narrowed_alone(file, at) if isinstance(at, Call) else None
            yield self.finding(at, file, what, fix=fix, related=related, bytes=size, contrast=contrast)
