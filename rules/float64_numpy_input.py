from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import float64_by_design
from tfmemlint_rules._scaling import INTEGERS
from tfmemlint_rules._sinks import arrays_entering

from tfmemlint.api import (
    Array,
    Call,
    Edit,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    append_method,
    ensure_numpy,
    knowledge,
    on_file,
    outer_span,
    show_bytes,
    walk,
)

JOINS = ("np.stack", "np.concatenate", "np.vstack", "np.hstack", "np.dstack", "np.column_stack", "np.array")


class Float64NumpyInput(Rule):
    """
    ## What it does
    Reports NumPy arrays that are float64 only because that is NumPy's default, where they enter TensorFlow: in
    `tf.constant`, `tf.Variable`, `from_tensor_slices`, `fit`, ...

    ## Why it costs memory
    The array takes twice the bytes of float32, it is copied into a float64 tensor of the same size, and Keras casts
    that to float32: three copies where one would do.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed. Modules that choose float64 and unit tests are not reported.

    ## References
    - https://numpy.org/doc/stable/user/basics.types.html
    """

    code = "TFM202"
    summary = "NumPy's default float64 doubles what enters TensorFlow"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_file("np", "numpy", "random", "zeros", "ones", "linspace", "array")
    def check(self, file: File) -> Iterator[Finding]:
        if float64_by_design(file):
            return
        taken: dict[int, tuple[Call, dict[int, Array]]] = {}
        for call, array in arrays_entering(file):
            if self._by_default(array):
                assert array.origin is not None
                taken.setdefault(id(call.node), (call, {}))[1][id(array.origin.node)] = array
        for call, arrays in taken.values():
            yield self._report(call, list(arrays.values()), file)

    def _by_default(self, array: Array) -> bool:
        if array.dtype != "float64" or array.explicit or array.cast is not None:
            return False
        if array.size is not None and array.size <= 1:
            return False
        return array.origin is not None and not self._is_integer_source(array.origin)

    def _is_integer_source(self, made: Call) -> bool:
        """Integer data that arithmetic made float64 is another rule's finding, as are one-hot labels."""
        name = made.name or ""
        if isinstance(made.value, Array) and made.value.dtype in INTEGERS:
            return True
        return name.endswith(".load_data") or name == "tf.keras.utils.to_categorical" or made.arg("dtype") is not None

    def _report(self, call: Call, arrays: list[Array], file: File) -> Finding:
        sizes = [array.bytes for array in arrays if array.bytes is not None]
        size = sum(sizes) if len(sizes) == len(arrays) else None
        weigh = f": {show_bytes(size)} instead of {show_bytes(size // 2)}" if size is not None else ""
        what = "this array is" if len(arrays) == 1 else f"{len(arrays)} of these arrays are"
        made = [array.origin for array in arrays if array.origin is not None]
        return self.finding(
            call,
            file,
            f"{what} float64 by NumPy's default, twice the memory of float32{weigh}",
            fix=self._narrow(arrays, file),
            related=[(each, "made here as float64") for each in made],
            bytes=size,
        )

    def _narrow(self, arrays: list[Array], file: File) -> Fix | None:
        numpy, imports = ensure_numpy(file)
        calls = {id(call.node): call for a in arrays for call in (a.origin, *a.beside) if call is not None}
        made = list(calls.values())
        if imports or any(self._is_integer_source(call) for call in made):
            return None
        made = self._joined(made, file)
        inner = {id(node) for each in made for node in walk(each.node) if node is not each.node}
        edits = [self._edit(each, numpy, file) for each in made if id(each.node) not in inner]
        return Fix("make it float32", tuple(sorted(edits, key=lambda e: e.start)), Safety.UNSAFE)

    def _joined(self, made: list[Call], file: File) -> list[Call]:
        """These calls, and those whose float64 arrays are joined with theirs: with one of them narrowed alone the
        result would stay float64."""
        found = {id(call.node): call for call in made}
        joins = [[node.left, node.right] for node in file.tree.of(cst.BinaryOperation)]
        joins += [[e.value for e in shown.elements] for call in file.calls(*JOINS) for arg in call.node.args[:1]
                  if isinstance(shown := arg.value, (cst.List, cst.Tuple))]  # fmt: skip
        before = -1
        while len(found) > before:
            before = len(found)
            for parts in joins:
                arrays = [value for part in parts if isinstance(value := file.value(part), Array)]
                origins = [a.origin for a in arrays if self._by_default(a) and a.origin is not None]
                if len(origins) > 1 and any(id(origin.node) in found for origin in origins):
                    found |= {id(origin.node): origin for origin in origins}
        return list(found.values())

    def _edit(self, made: Call, numpy: str, file: File) -> Edit:
        signature = knowledge.signature(made.name or "")
        takes = signature is not None and "dtype" in signature.names and not (made.name or "").startswith("np.random")
        if takes and not made.open and made.node.args:
            last = made.node.args[-1].value
            end = outer_span(file, last).end
            return Edit(end, end, f", dtype={numpy}.float32")
        return append_method(file, made.node, f".astype({numpy}.float32)")
