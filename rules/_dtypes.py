"""Where dtypes are written, and modules that want float64."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Api, Argument, Call, Const, File, Instance, Node, once_per_file

DESCRIBES = (
    "tf.TensorSpec", "tf.RaggedTensorSpec", "tf.SparseTensorSpec", "tf.io.", "tf.keras.metrics.", "tf.keras.losses.",
    "tf.keras.initializers.", "tf.keras.callbacks.", "tf.train.", "tf.keras.mixed_precision.", "tf.keras.config.",
    "tf.keras.utils.", "tf.keras.preprocessing.", "tf.strings.", "tf.lookup.", "tf.as_dtype", "tf.dtypes.as_dtype",
    "tf.DType", "tf.test.", "tf.compat.v1.test.", "tf.queue.", "tf.numpy_function", "tf.py_function", "tf.estimator.",
    "tf.feature_column.",
)  # fmt: skip
"""Calls that take a dtype and make no large tensor of their own: descriptions, single numbers, file formats."""

FLOAT64 = frozenset({"tf.float64", "np.float64", "tf.double", "np.double", "tf.dtypes.float64", "tf.dtypes.double"})

BUILT_ON_FLOAT64 = (
    "tensorflow_probability", "gpflow", "gpflux", "gpytorch", "qutip", "tensorcircuit", "deepxde", "scipy.linalg",
    "scipy.optimize", "scipy.integrate", "scipy.special", "scipy.sparse.linalg", "numdifftools",
)  # fmt: skip
"""Libraries whose numerics want float64; a module that imports one made its choice."""

GPFLOW = ("default_float", "default_int", "default_jitter")

POLICIES = (
    "tf.keras.backend.set_floatx", "tf.keras.config.set_floatx", "tf.keras.mixed_precision.set_global_policy",
    "tf.keras.config.set_dtype_policy",
)  # fmt: skip


def names_float64(argument: Argument) -> bool:
    """Whether an argument says float64 in so many words at the call itself."""
    if isinstance(argument.expression, cst.Name) and not isinstance(argument.value, Api):
        return False
    value = argument.value
    if isinstance(value, Instance) and value.type_name == "tf.keras.mixed_precision.Policy" and value.call is not None:
        value = value.call.value_of(0)
    if isinstance(value, Api):
        return value.name in FLOAT64 and _spelled(argument.expression)
    return isinstance(value, Const) and value.value in ("float64", "double")


def _spelled(expression: cst.BaseExpression) -> bool:
    """Whether the expression itself names the dtype; a constant of the module such as `DTYPE` is a decision."""
    if isinstance(expression, cst.Attribute):
        return expression.attr.value in ("float64", "double")
    return isinstance(expression, cst.Name) and expression.value in ("float64", "double")


@once_per_file
def float64_by_design(file: File) -> bool:
    """Whether the module sets a float64 policy or imports a library built on float64."""
    if any(policy_name(call) == "float64" for call in file.calls(*POLICIES)):
        return True
    return any(_wants_float64(d.api) for ds in file.flow(file.module).end.values() for d in ds) or _part_of_one(file)


def _part_of_one(file: File) -> bool:
    """Whether the module is part of such a library: in a package of its name, with imports from that package."""
    folders = file.source.path.replace("\\", "/").split("/")[:-1]
    relative = any(statement.relative for statement in file.tree.of(cst.ImportFrom))
    return relative and any(folder in BUILT_ON_FLOAT64 for folder in folders)


def policy_name(call: Call) -> str | None:
    """The name that a call which sets a policy or floatx is given, as text or inside a policy object."""
    value = call.value_of(0) if call.arg(0) is not None else call.value_of("policy", "value")
    if isinstance(value, Instance) and value.call is not None and (value.type_name or "").endswith("Policy"):
        value = value.call.value_of(0) if value.call.arg(0) is not None else value.call.value_of("name")
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def _wants_float64(api: str) -> bool:
    return api.rpartition(".")[2] in GPFLOW or any(
        api == root or api.startswith(root + ".") for root in BUILT_ON_FLOAT64
    )


def named(file: File) -> Iterator[tuple[Call, Argument]]:
    """The TensorFlow calls that are given a dtype argument which says float64 in so many words, and that argument."""
    for node in file.tree.of(cst.Call):
        if not any(_may_say_float64(arg.value) for arg in node.args):
            continue
        call = file.call(node)
        name = call.name or ""
        if name.startswith("tf.") and not name.startswith(DESCRIBES):
            dtype = call.arg("dtype", "out_type")
            if dtype is not None and names_float64(dtype):
                yield call, dtype
    for call in file.calls("tf.compat.v1.to_double", "tf.to_double"):
        if call.node.args:
            yield call, Argument(call.node.args[0], call.evaluator, call.frame)


def _may_say_float64(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Attribute):
        return node.attr.value in ("float64", "double")
    if isinstance(node, cst.SimpleString):
        return "float64" in node.value or "double" in node.value
    if isinstance(node, cst.Call):
        return any(_may_say_float64(arg.value) for arg in node.args)  # Policy("float64")
    return isinstance(node, cst.Name) and node.value in ("float64", "double")


def wanted_there(node: Node, file: File) -> bool:
    """Whether the code around it has asked for float64: `if K.floatx() == "float64"`."""
    below = node
    for above in file.tree.ancestors(node):
        if isinstance(above, (cst.If, cst.IfExp)) and below is above.body and isinstance(above.test, cst.Comparison):
            for part in above.test.comparisons:
                if isinstance(part.operator, (cst.Equal, cst.In, cst.Is)) and _mentions(above.test, part):
                    return True
        below = above
    return False


def _mentions(test: cst.Comparison, compared: cst.ComparisonTarget) -> bool:
    given = compared.comparator
    sides = [test.left, given, *(e.value for e in getattr(given, "elements", ()))]
    return any(_may_say_float64(side) for side in sides)
