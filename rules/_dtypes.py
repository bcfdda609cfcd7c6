"""Where dtypes are written, and modules that want float64."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Api, Argument, Const, File

CREATES = (
    "tf.zeros", "tf.ones", "tf.constant", "tf.convert_to_tensor", "tf.Variable", "tf.cast", "tf.saturate_cast",
    "tf.zeros_like", "tf.ones_like", "tf.eye", "tf.range", "tf.linspace", "tf.one_hot", "tf.random.normal",
    "tf.random.uniform", "tf.random.truncated_normal", "tf.random.stateless_normal", "tf.random.stateless_uniform",
    "tf.keras.Input", "tf.keras.layers.Dense", "tf.keras.layers.Conv2D", "tf.keras.layers.Conv1D",
    "tf.keras.layers.Conv3D", "tf.keras.layers.Embedding", "tf.keras.layers.LSTM", "tf.keras.layers.GRU",
    "tf.keras.layers.BatchNormalization", "tf.keras.layers.LayerNormalization", "tf.keras.layers.Layer.add_weight",
    "tf.io.decode_raw", "tf.image.convert_image_dtype", "tf.keras.layers.MultiHeadAttention",
    "tf.keras.layers.SimpleRNN", "tf.keras.layers.SeparableConv2D", "tf.keras.layers.Conv2DTranspose",
)  # fmt: skip

FLOAT64 = frozenset({"tf.float64", "np.float64", "tf.double", "np.double", "tf.dtypes.float64", "tf.dtypes.double"})

BUILT_ON_FLOAT64 = frozenset({"tensorflow_probability", "gpflow", "scipy", "gpytorch", "qutip", "tensorcircuit", "deepxde"})
"""Libraries whose numerics want float64; a module that imports one made its choice."""

POLICIES = (
    "tf.keras.backend.set_floatx", "tf.keras.config.set_floatx", "tf.keras.mixed_precision.set_global_policy",
    "tf.keras.config.set_dtype_policy",
)  # fmt: skip


def names_float64(argument: Argument) -> bool:
    """Whether an argument says float64 in so many words at the call itself."""
    if isinstance(argument.expression, cst.Name) and not isinstance(argument.value, Api):
        return False
    value = argument.value
    if isinstance(value, Api):
        return value.name in FLOAT64 and _spelled(argument.expression)
    return isinstance(value, Const) and value.value in ("float64", "double")


def _spelled(expression: cst.BaseExpression) -> bool:
    """Whether the expression itself names the dtype; a constant of the module such as `DTYPE` is a decision."""
    if isinstance(expression, cst.Attribute):
        return expression.attr.value in ("float64", "double")
    return isinstance(expression, cst.Name) and expression.value in ("float64", "double")


def float64_by_design(file: File) -> bool:
    """Whether the module sets a float64 policy, imports a library built on float64, or is a unit test."""
    if is_test(file):
        return True
    for call in file.calls(*POLICIES):
        if call.value_of(0) == Const("float64"):
            return True
    for definitions in file.flow(file.module).end.values():
        if any(d.api.partition(".")[0] in BUILT_ON_FLOAT64 or d.api.endswith(".default_float") for d in definitions):
            return True
    return False


def is_test(file: File) -> bool:
    """Whether the file is a unit test by its name or by a test class in it."""
    name = file.source.path.replace("\\", "/").rpartition("/")[2]
    if name.startswith("test_") or name.removesuffix(".py").endswith("_test"):
        return True
    return any(_is_test_case(node, file) for node in file.tree.of(cst.ClassDef))


def _is_test_case(node: cst.ClassDef, file: File) -> bool:
    base = file.values.classes.bases(node)[0]
    return base in ("unittest.TestCase", "tf.test.TestCase", "absl.testing.absltest.TestCase", "absl.testing.parameterized.TestCase")


