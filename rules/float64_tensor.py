from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst
from tfmemlint_rules._accidents import accidents, elements_of
from tfmemlint_rules._dtypes import float64_by_design, named, names_float64, wanted_there
from tfmemlint_rules._sinks import arrays_entering

from tfmemlint.api import (
    Api,
    Argument,
    Array,
    Call,
    Const,
    File,
    Finding,
    Fix,
    Length,
    Rule,
    Safety,
    api_text,
    on_file,
    own_nodes,
    replace_node,
    show_bytes,
    walk,
)


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

    @on_file("float64", "double", "to_double")
    def check(self, file: File) -> Iterator[Finding]:
        if float64_by_design(file):
            return
        for made, dtype in named(file):
            value = made.value
            size = value.bytes if isinstance(value, Array) and value.shape is not None else _given_size(made)
            if file.contexts.mapped(made.node):
                size = None  # one element's, and there are many
            elif self._small(size, file) or (isinstance(value, Array) and value.shape == ()):
                continue
            if not _scalar(made, file) and not wanted_there(made.node, file) and not self._casts_back(made, file):
                yield self._report(made, size, self._narrow(dtype, file), file)
        yield from self._arrays(file)

    def _arrays(self, file: File) -> Iterator[Finding]:
        """NumPy arrays that are given float64 in so many words and enter TensorFlow."""
        seen: set[int] = set()
        for taker, array in arrays_entering(file):
            made = array.dtype_call
            dtype = made.arg("dtype") if made is not None else None
            if array.dtype != "float64" or made is None or dtype is None or id(made.node) in seen:
                continue
            seen.add(id(made.node))
            if names_float64(dtype) and array.shape != () and not self._small(array.bytes, file):
                related = [(taker, "enters TensorFlow here")]
                yield self._report(made, array.bytes, self._narrow(dtype, file), file, related)

    def _report(
        self, made: Call, size: int | None, fix: Fix | None, file: File, related: Sequence[tuple[Call, str]] = ()
    ) -> Finding:
        weigh = f": {show_bytes(size)} instead of {show_bytes(size // 2)}" if size is not None else ""
        what = f"float64 takes twice the memory of float32{weigh}"
        return self.finding(made, file, what, fix=fix, related=related, bytes=size)

    def _small(self, size: int | None, file: File) -> bool:
        return size is not None and size < file.config.min_bytes

    def _casts_back(self, made: Call, file: File) -> bool:
        """Whether the function computes in float64 and gives another dtype back: a choice of numerics."""
        function = file.contexts.function(made.node)
        if function is None or file.contexts.mapped(made.node):
            return False
        for node in own_nodes(function, cst.Call):
            cast = file.call(node) if isinstance(node, cst.Call) else made
            dtype = cast.arg("dtype")
            if cast.name == "tf.cast" and dtype is not None and not names_float64(dtype):
                narrowed = cast.arg(0)
                if narrowed is not None and any(n is made.node for n in walk(narrowed.expression)):
                    return True
                value = cast.value_of(0)
                if isinstance(value, Array) and value.dtype == "float64":
                    return True
        return False

    @on_file("linspace", "int32", "int64", "argmax", "range", "numpy")
    def check_accidents(self, file: File) -> Iterator[Finding]:
        for found in accidents(file):
            if self._small(found.size, file) or float64_by_design(file):
                continue
            cost = f": {show_bytes(found.size)}" if found.size is not None else ""
            fix = Fix("give float bounds", found.edits, Safety.UNSAFE) if found.edits else None
            what = f"{found.what}, twice the memory of float32{cost}"
            yield self.finding(found.where, file, what, fix=fix, bytes=found.size)

    def _narrow(self, dtype: Argument, file: File) -> Fix | None:
        if isinstance(dtype.expression, cst.Name):  # from numpy import float64
            known = api_text(file, "tf.float32") or api_text(file, "np.float32")
            edit = replace_node(file, dtype.expression, known or "")
            return Fix("use float32", (edit,), Safety.UNSAFE) if known else None
        written = file.text(dtype.expression)
        for wide in ("float64", "double"):
            if written.endswith((wide, wide + "'", wide + '"')):
                edit = replace_node(file, dtype.expression, written.replace(wide, "float32"))
                return Fix("use float32", (edit,), Safety.UNSAFE)
        return None


def _given_size(made: Call) -> int | None:
    """Bytes as float64 of what is given a `shape` argument: weights, placeholders."""
    count = elements_of(made.given("shape"))
    return None if count is None else 8 * count


def _scalar(made: Call, file: File) -> bool:
    """Whether a Python number is made a tensor, also one that is reckoned with a `len`."""
    given = made.value_of(0)
    sides = [made.node.args[0].value] if made.node.args else []
    for side in sides:
        sides += [side.left, side.right] if isinstance(side, cst.BinaryOperation) else []
    if len(sides) > 1 and not given.known and any(isinstance(file.value(side), Length) for side in sides):
        return True
    number = isinstance(given, Const) or (
        isinstance(given, Api) and given.name in ("np.pi", "np.e", "np.inf", "np.nan", "math.pi")
    )
    return number and made.name in ("tf.constant", "tf.convert_to_tensor", "tf.Variable", "tf.cast")
