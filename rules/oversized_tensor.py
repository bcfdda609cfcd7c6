from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, File, Finding, Rule, on_call, show_bytes

MAKES = (
    "tf.zeros", "tf.ones", "tf.fill", "tf.eye", "tf.one_hot", "tf.range", "tf.linspace", "tf.random.normal",
    "tf.random.uniform", "tf.random.truncated_normal", "tf.random.stateless_normal", "tf.random.stateless_uniform",
    "tf.random.gamma", "tf.random.poisson", "tf.random.stateless_truncated_normal", "tf.random.Generator.normal",
    "tf.random.Generator.uniform", "tf.random.Generator.truncated_normal", "tf.constant", "tf.tile", "tf.repeat",
    "tf.broadcast_to", "tf.linalg.diag", "tf.keras.ops.zeros", "tf.keras.ops.ones", "tf.keras.ops.one_hot",
    "tf.keras.ops.empty", "tf.keras.ops.eye", "tf.keras.ops.identity", "tf.keras.backend.zeros",
    "tf.keras.backend.ones", "tf.keras.backend.random_normal", "tf.keras.backend.random_uniform",
    "tf.keras.random.normal", "tf.keras.random.uniform", "tf.keras.random.truncated_normal",
    "tf.keras.layers.Layer.add_weight", "tf.compat.v1.get_variable", "np.zeros", "np.ones", "np.full", "np.empty",
    "np.eye", "np.identity", "np.random.rand", "np.random.randn", "np.random.random", "np.random.normal",
    "np.random.uniform", "np.random.randint", "np.random.random_sample", "np.random.standard_normal",
    "np.random.Generator.normal", "np.random.Generator.random", "np.random.Generator.standard_normal",
    "np.random.Generator.uniform", "np.random.Generator.integers",
)  # fmt: skip


class OversizedTensor(Rule):
    """
    ## What it does
    Reports creation ops whose shape is known and whose result passes the limit `max-tensor` (1 GiB unless configured).

    ## Why it costs memory
    The bytes are the product of the sizes and the size of the dtype. `tf.random.normal((1024, 1024, 1024, 3))` is
    12 GiB, and the op that draws the numbers needs more while it runs.

    ## When not to use it
    When the memory is there; or raise `max-tensor`.

    ## References
    - https://www.tensorflow.org/guide/tensor
    """

    code = "TFM701"
    summary = "one tensor passes the configured size"
    no_fix = "how the data is used decides how to split it"
    in_tests = False

    @on_call(*MAKES)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        value = call.value
        if not isinstance(value, Array) or value.bytes is None or value.bytes <= file.config.max_tensor:
            return
        sizes = " x ".join(str(size) for size in value.shape or ())
        yield self.finding(
            call, file, f"this makes {sizes} {value.dtype} values: {show_bytes(value.bytes)}", bytes=value.bytes
        )
