"""Objects of classes, of libraries and of the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.values.array import Array
from tfmemlint.model.values.callables import method_of
from tfmemlint.model.values.dataset import Dataset
from tfmemlint.model.values.value import Unknown, Value

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call

CALLBACK = "tf.keras.callbacks.Callback"


@dataclass(frozen=True, slots=True)
class Instance(Value):
    """An object: of an API class (`type_name` is canonical), of a class of this module, or of one derived from both."""

    type_name: str | None
    call: Call | None = None
    class_node: cst.ClassDef | None = None

    def shared(self, others: Iterable[Instance]) -> Value:
        """An object of the class that all are of, made nobody knows where."""
        if all(o.type_name == self.type_name and o.class_node is self.class_node for o in others):
            return Instance(self.type_name, None, self.class_node)
        return Unknown("objects of several classes")

    def attribute(self, name: str) -> Value:
        if self.type_name is None:
            return Value.attribute(self, name)
        if name == "model" and CALLBACK in (self.type_name, *knowledge.bases(self.type_name)):
            return Instance("tf.keras.Model")  # the one that is trained
        return method_of(self, self.type_name, name)

    def subscript(self, indices: list[Value | slice]) -> Value:
        if self.type_name == "h5py.Dataset":
            return Array("np", None, None, self.call).subscript(indices)
        return Value.subscript(self, indices)

    def item_at(self, index: Value) -> Value:
        if self.type_name in ("h5py.File", "h5py.Group"):
            return Instance("h5py.Dataset", self.call)
        if self.type_name == "h5py.Dataset":
            return self.subscript([index])
        return Value.item_at(self, index)


def instance_of(name: str, call: Call | None = None) -> Value:
    """The value that an object of an API class has."""
    if name == "tf.data.Dataset" or "tf.data.Dataset" in knowledge.bases(name):
        return Dataset(None, call)
    if name == "np.ndarray":
        return Array("np")
    if name in ("tf.Tensor", "tf.Variable"):
        return Array("tf", variable=name == "tf.Variable")
    return Instance(name, call)
