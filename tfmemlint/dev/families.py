"""The families of the built-in rules: what their pages are filed under, and which codes are free in them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """The rules whose codes begin alike, such as TFM3."""

    title: str
    apis: tuple[str, ...] = ()
    """Canonical names, or the beginnings of such, about which a rule of the family speaks."""


FAMILIES = {
    "TFM0": Family("The tool itself"),
    "TFM1": Family("Devices and the GPU allocator", ("tf.config", "tf.test", "tf.compat.v1.ConfigProto", "os.environ")),
    "TFM2": Family("Dtypes", ("tf.cast", "tf.keras.mixed_precision", "tf.keras.config.set_floatx", "np")),
    "TFM3": Family("tf.data", ("tf.data", "tf.keras.utils.image_dataset_from_directory")),
    "TFM4": Family("GradientTape", ("tf.GradientTape", "tf.autodiff", "tf.gradients")),
    "TFM5": Family(
        "Tracing", ("tf.function", "tf.py_function", "tf.numpy_function", "tf.recompute_grad", "tf.autograph")
    ),
    "TFM6": Family("Keras models", ("tf.keras", "tf.saved_model")),
    "TFM7": Family("Tensor operations", ("tf",)),
    "TFM8": Family("Profiling and debugging", ("tf.profiler", "tf.debugging", "tf.summary")),
    "TFM9": Family("TensorFlow 1 graphs and distribution", ("tf.compat.v1", "tf.distribute")),
}


def family_of(api: str) -> str | None:
    """The family of a rule about an API with this canonical name: the one that names the most of it."""
    fitting = [
        (len(start), family)
        for family, entry in FAMILIES.items()
        for start in entry.apis
        if api == start or api.startswith(f"{start}.")
    ]
    return max(fitting)[1] if fitting else None


def next_code(family: str, used: Collection[str]) -> str | None:
    """The code after the highest of a family: gaps are codes of rules that are gone. None where the family is full."""
    numbers = [int(code[-2:]) for code in used if re.fullmatch(rf"{family}\d\d", code)]
    following = max(numbers, default=0) + 1
    return f"{family}{following:02}" if following <= 99 else None
