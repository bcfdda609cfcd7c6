from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Function, Rule, on_call, own_nodes

PYTHON = ("tf.io.gfile", "tf.data.experimental.AUTOTUNE", "tf.keras.utils.load_img", "tf.keras.preprocessing.image.load_img",
          "tf.keras.utils.img_to_array", "tf.keras.preprocessing.image.img_to_array", "tf.config", "tf.keras.datasets",
          "tf.keras.utils.to_categorical", "tf.keras.preprocessing.sequence", "tf.keras.utils.pad_sequences", "tf.compat.as_",
          "tf.train.Example", "tf.train.Feature", "tf.keras.utils.Progbar", "tf.executing_eagerly", "tf.autograph", "tf.Tensor.numpy",
          "tf.keras.utils.array_to_img", "tf.TensorSpec", "tf.get_logger")  # fmt: skip


class OpsInGenerator(Rule):
    """
    ## What it does
    Reports TensorFlow ops and datasets inside a generator that is given to `from_generator`.

    ## Why it costs memory
    The generator runs in Python, once for each element: every op in it is dispatched eagerly and its result copied out and
    in again, and datasets made in it leave objects behind in each epoch.

    ## Example
    ```python
    def examples():
        for path in paths:
            yield tf.io.decode_png(tf.io.read_file(path))

    ds = tf.data.Dataset.from_generator(examples, tf.uint8)
    ```
    Leave Python in the generator and ops to `map`:
    ```python
    ds = tf.data.Dataset.from_tensor_slices(paths).map(lambda p: tf.io.decode_png(tf.io.read_file(p)))
    ```

    ## Fix safety
    No fix: the generator must be rewritten.

    ## When not to use it
    When the op has no counterpart outside TensorFlow and the data is small.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator
    """

    code = "TFM319"
    summary = "ops in a Python generator are dispatched for every element"

    @on_call("tf.data.Dataset.from_generator")
    def check(self, source: Call, file: File) -> Iterator[Finding]:
        for target in source.value_of("generator").options:
            if not isinstance(target, Function):
                continue
            for node in own_nodes(target.node, (cst.Call,)):
                call = file.call(node)  # type: ignore[arg-type]
                if call.name is not None and call.name.startswith("tf.") and not call.name.startswith(PYTHON) and not call.name.endswith(".numpy"):
                    yield self.finding(
                        call, file, f"{call.method}() runs eagerly for every element of the generator; leave ops to map()",
                        related=[(source, "the generator's dataset")],
                    )  # fmt: skip
                    break
