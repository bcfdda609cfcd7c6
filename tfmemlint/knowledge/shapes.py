"""Functions by the last word of their names, which `tf`, `tf.math`, `tf.nn`, Keras' ops and backend and NumPy share:
what becomes of shapes. Read from the documentation of TensorFlow 2.21."""

from __future__ import annotations

KEEPS = frozenset({
    "exp", "log", "sqrt", "square", "tanh", "sin", "cos", "sigmoid", "relu", "relu6", "softmax", "abs", "negative",
    "clip", "clip_by_value", "softplus", "silu", "swish", "gelu", "elu", "selu", "leaky_relu", "log_softmax",
    "identity", "stop_gradient", "cast", "l2_normalize", "normalize", "rsqrt", "erf", "sign", "round", "floor",
    "ceil", "zeros_like", "ones_like", "dropout", "hard_sigmoid", "hard_silu", "batch_normalization", "log1p",
    "expm1", "mish", "softsign", "logical_not", "isnan", "random_normal_like", "preprocess_input", "reverse", "flip",
    "roll", "pow", "power",
})  # fmt: skip
"""Functions that give what has the shape of their first argument."""

ELEMENTWISE = frozenset({
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "truediv", "true_divide", "where", "equal", "less",
    "greater", "not_equal", "less_equal", "greater_equal", "logical_and", "logical_or", "squared_difference",
    "div_no_nan", "divide_no_nan", "binary_crossentropy_elementwise", "add_n",
})  # fmt: skip
"""Functions that give what all their arguments are spread to."""

OF_TENSORS = ELEMENTWISE | KEEPS | {"concat", "concatenate", "stack", "matmul", "dot", "batch_dot"}
"""Functions that are given tensors alone, and no sizes."""

REDUCES = frozenset({
    "mean", "sum", "max", "min", "prod", "var", "std", "any", "all", "reduce_mean", "reduce_sum", "reduce_max",
    "reduce_min", "reduce_prod", "reduce_any", "reduce_all", "reduce_std", "reduce_variance", "argmax", "argmin",
    "logsumexp", "reduce_logsumexp", "norm",
})  # fmt: skip
"""Functions that take axes away."""
