from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Class, Dataset, File, Finding, Function, Instance, Node, Rule, Value, on_file, own_nodes

PLAIN = (
    "tf.io.gfile.", "tf.keras.utils.", "tf.keras.preprocessing.", "tf.train.", "tf.nest.", "tf.random.set_seed",
    "tf.compat.as_", "tf.TensorSpec", "tf.TensorShape", "tf.dtypes.as_dtype", "tf.get_logger", "tf.summary.",
    "tf.print", "tf.executing_eagerly", "tf.io.TFRecordWriter", "tf.compat.v1.logging.", "tf.keras.datasets.",
    "tf.config.", "tf.as_dtype", "tf.keras.applications.", "tf.python_io.", "tf.compat.v1.python_io.",
    "tf.compat.v1.io.", "tf.io.tf_record_iterator", "tf.device", "tf.DType", "tf.gfile.",
)  # fmt: skip
"""Beginnings of names that run no op: files, plain Python and NumPy helpers, protocol buffers, descriptions."""

FOLLOWED = 1


class OpsInGenerator(Rule):
    """
    ## What it does
    Reports TensorFlow ops and datasets inside the Python generator that `from_generator` is given.

    ## Why it costs memory
    The generator runs eagerly in Python for every element: each op makes a tensor, a handle and a copy back to NumPy,
    and each dataset or iterator made in it leaves objects behind that grow with every epoch.

    ## When not to use it
    When the generator makes a handful of elements.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator
    """

    code = "TFM319"
    summary = "ops inside a generator run eagerly for each element and leave objects behind"
    no_fix = "what can move into a map depends on what the generator does besides"
    in_tests = False

    @on_file("from_generator")
    def check(self, file: File) -> Iterator[Finding]:
        seen: set[int] = set()  # two pipelines may use one generator
        for source in file.calls("tf.data.Dataset.from_generator"):
            found = self._first(source, file)
            key = id(found.node if isinstance(found, Call) else found)
            if found is not None and key not in seen:
                seen.add(key)
                yield self._report(found, source, file)

    def _first(self, source: Call, file: File) -> Call | Node | None:
        """The first op that the generator of a pipeline runs for each element."""
        for target in source.value_of("generator").options:
            function = self._generator(target, file)
            found = next(self._ops(function, file, FOLLOWED), None) if function is not None else None
            if found is not None:
                return found
        return None

    def _report(self, found: Call | Node, source: Call, file: File) -> Finding:
        method = f"{found.method}()" if isinstance(found, Call) else "this"
        what = "this dataset" if isinstance(found, cst.For) else method
        return self.finding(
            found,
            file,
            f"{what} runs eagerly for every element of the generator; yield plain NumPy and leave TensorFlow to map()",
            related=[(source, "the generator is used here")],
        )

    def _generator(self, target: Value, file: File) -> Function | None:
        """The function that runs for each element: a generator, what a lambda calls, or an object's `__call__`."""
        if isinstance(target, Instance) and target.class_node is not None:
            method = file.values.classes.method(target.class_node, "__call__")
            return Function(method, receiver=target) if method is not None else None
        if not isinstance(target, Function):
            return None
        if isinstance(target.node, cst.Lambda) and isinstance(target.node.body, cst.Call):
            inner = file.call(target.node.body).target
            if isinstance(inner, (Function, Instance)):
                return self._generator(inner, file) or target
            return None if isinstance(inner, Class) else target
        return target

    def _ops(self, function: Function, file: File, depth: int) -> Iterator[Call | Node]:
        for node in own_nodes(function.node, cst.Call, cst.For):
            if isinstance(node, cst.For):
                value = file.value(node.iter)
                if all(isinstance(option, Dataset) and option.source is not None for option in value.options):
                    yield node
                continue
            assert isinstance(node, cst.Call)
            call = file.call(node)
            if call.names and all(self._op(name) for name in call.names):
                yield call
            for inner in call.target.options if depth else ():
                if isinstance(inner, Function):
                    yield from self._ops(inner, file, depth - 1)

    def _op(self, name: str) -> bool:
        if not name.startswith("tf.") or name.startswith(PLAIN) or name.startswith("tf.Tensor."):
            return False
        return not name.startswith(("tf.keras.Sequential", "tf.keras.Model", "tf.keras.layers")) or name.endswith(
            "__call__"
        )
