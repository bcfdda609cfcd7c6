"""What `tensorflow_datasets` says of a data set beside its examples: the number of its classes and examples."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Any

from tfmemlint import knowledge
from tfmemlint.model.values import Const, Instance, Sequence, Unknown, Value, constant

CLASSES = {
    "beans": 3, "caltech101": 102, "cassava": 5, "cats_vs_dogs": 2, "cifar10": 10, "cifar100": 100, "citrus_leaves": 4,
    "colorectal_histology": 8, "emnist": 62, "eurosat": 10, "fashion_mnist": 10, "food101": 101, "horses_or_humans": 2,
    "imagenet2012": 1000, "imagenette": 10, "imdb_reviews": 2, "kmnist": 10, "malaria": 2, "mnist": 10,
    "oxford_flowers102": 102, "oxford_iiit_pet": 37, "patch_camelyon": 2, "plant_village": 38,
    "rock_paper_scissors": 3, "stanford_dogs": 120, "stl10": 10, "svhn_cropped": 10, "tf_flowers": 5,
}  # fmt: skip
"""Data set -> the classes of its feature `label`, from https://www.tensorflow.org/datasets/catalog."""


@dataclass(frozen=True, slots=True, eq=False)
class Told(Value):
    """A part of the information on a data set: `path` are the attributes and keys that lead to it."""

    name: str
    path: tuple[str, ...]

    def attribute(self, name: str) -> Value:
        """`part.name`."""
        path = (*self.path, name)
        if path in (("features", "label", "num_classes"), ("features", "label", "names")):
            count = CLASSES.get(self.name.partition(":")[0].partition("/")[0])
            if count is None:
                return Unknown("the classes of a data set")
            return Const(count) if name == "num_classes" else Sequence((Unknown("a name"),) * count, "list")
        if self.path[:1] == ("splits",) and name == "num_examples" and len(self.path) == 2:
            found = knowledge.tfds_examples(self.name)
            count = found.splits.get(self.path[1]) if found is not None else None
            return Const(count) if count is not None else Unknown("the examples of a split")
        return Told(self.name, path)

    def item_at(self, index: Value) -> Value:
        """`part[index]`."""
        key = constant(index)
        return Told(self.name, (*self.path, key)) if isinstance(key, str) else Unknown("a part of a data set's info")

    def subscript(self, indices: SequenceOf[Any]) -> Value:
        """As `item_at`, of one index."""
        one = indices[0] if len(indices) == 1 else None
        return self.item_at(one) if isinstance(one, Value) else Unknown("a part of a data set's info")


def told(base: Value, name: str) -> Value | None:
    """`info.name` of what `tfds.load(..., with_info=True)` gives beside the data; None for what is none."""
    if not isinstance(base, Instance) or base.type_name != "tensorflow_datasets.DatasetInfo" or base.call is None:
        return None
    data = constant(base.call.given(0, "name"))
    return Told(data, (name,)) if isinstance(data, str) else None
