"""Keras' Python data sets: classes that make one batch for each index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import structure_bytes
from tfmemlint.model.values import Class, Instance, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

DATA_SET = "tf.keras.utils.Sequence"


def makes_data_set(file: File, call: Call) -> bool:
    """Whether a call certainly makes an object of a class of this file that derives from a Python data set, or is that
    by which such a class gives arguments to its base: `super().__init__(...)`."""
    owner = file.class_of(file.scope_of(call.node)) if call.method == "__init__" else None
    made = [owner] if owner is not None else [each.node for each in call.target.options if isinstance(each, Class)]
    return bool(made) and all(file.values.classes.derives(each, DATA_SET) for each in made)


def batch_bytes(file: File, data: Value) -> int | None:
    """Bytes of one batch, where a data set's `__getitem__` makes arrays of known sizes in one place; else None."""
    kind = data.class_node if isinstance(data, Instance) else None
    method = file.values.classes.method(kind, "__getitem__") if kind is not None else None
    returned = [each.value for each in file.returns(method)] if method is not None else []
    return structure_bytes(file.value(returned[0])) if len(returned) == 1 and returned[0] is not None else None
