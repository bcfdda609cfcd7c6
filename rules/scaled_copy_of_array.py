from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._scaled_copy_of_array import in_place, is_copy, scalings_of

from tfmemlint.api import Array, Call, File, Finding, Fix, Rule, Safety, Severity, on_call, show_bytes, tensors


class ScaledCopyOfArray(Rule):
    """
    ## What it does
    Gives the advice to scale a large array in place that was made for it: `x.astype("float32") / 255.0` makes a float
    copy, and the quotient as a second one beside it.

    ## Why it costs memory
    Both copies exist until the division is done: the peak is twice the array. NumPy can compute in a temporary itself,
    but not where the array is float32 or float16 and the number is Python's, which it takes for another dtype.

    ## Fix safety
    Unsafe: the array has its name before it is scaled, where other threads may see it. The numbers are the same.

    ## When not to use it
    Where the peak of preparing the data is far below that of training.

    ## References
    - https://numpy.org/doc/stable/reference/ufuncs.html
    """

    code = "TFM709"
    summary = "scaling a converted array makes a second copy of it"
    severity = Severity.INFO
    default = False
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call("np.ndarray.astype", "np.float32", "np.array")
    def check(self, copy: Call, file: File) -> Iterator[Finding]:
        scaled = scalings_of(file, copy) if is_copy(copy) else []
        size = copy.value.bytes if isinstance(copy.value, Array) else None
        if not scaled or size is None or size < file.config.min_bytes or tensors.only_shown(file, scaled[-1]):
            return
        yield self.finding(
            file.span(scaled[0]),
            file,
            f"the scaled array is a second copy beside the converted one ({show_bytes(size)} more at the peak); "
            "scale in place",
            fix=Fix.unsafe("scale in place", in_place(file, copy, scaled)),
            related=[(copy, "converted here")],
            bytes=size,
        )
