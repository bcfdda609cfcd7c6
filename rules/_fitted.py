"""Data that a model is fitted to: the whole of it, whatever its shape is."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Binds, Call, File, Value

READERS = ("np.load", "np.loadtxt", "np.genfromtxt", "pandas.", "sklearn.", "scipy.")
FITS = ("tf.keras.Model.fit", "tf.keras.Model.evaluate")


def fitted(given: cst.BaseExpression, value: Value, file: File) -> bool:
    """Whether the file's program reads an array, of unknown shape, from somewhere and fits a model to it."""
    if not isinstance(given, cst.Name) or (isinstance(value, Array) and value.shape is not None):
        return False
    made = file.definitions(given)
    if len(made) != 1 or made[0].binds is not Binds.VALUE or not _read(made[0].value, file):
        return False
    if file.contexts.loop(given) is not None:
        return False
    return any(_same(fit, made[0], file) for fit in file.calls(*FITS))


def _same(fit: Call, made: object, file: File) -> bool:
    data = fit.arg("x")
    if data is None or not isinstance(data.expression, cst.Name) or file.contexts.loop(fit.node) is not None:
        return False
    found = file.definitions(data.expression)
    return len(found) == 1 and found[0] is made


def _read(value: object, file: File, depth: int = 8) -> bool:
    """Whether a value comes from a file or is a part of a split: `train_test_split(...)`, `df.values`."""
    if not isinstance(value, cst.BaseExpression) or depth == 0:
        return False
    if isinstance(value, cst.Call):
        name = file.call(value).name or ""
        if name.startswith(READERS):
            return True
        return isinstance(value.func, cst.Attribute) and _read(value.func.value, file, depth - 1)
    if isinstance(value, cst.Attribute):
        return _read(value.value, file, depth - 1)
    if isinstance(value, cst.BinaryOperation):
        return _read(value.left, file, depth - 1)
    if isinstance(value, cst.Name):
        made = file.definitions(value)
        return len(made) == 1 and _read(made[0].value, file, depth - 1)
    return False
