"""Stands in for the catalogue of `tensorflow_datasets`, which a program without network cannot fetch from; loaded by
`main.py`. Elements have the dtypes, shapes and number that the catalogue tells; what is in them is made up."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

Note = Callable[[str], None]

KNOWN = Path(__file__).parents[2] / "knowledge" / "tfds.json"
SIDE = 256
"""Elements along an axis whose length differs from element to element."""

CLASSES = 10
"""Classes of labels, whose number the catalogue's table does not tell."""


class Catalogue:
    """The data sets of one run; `make` makes a data set of a description of its elements and their number."""

    def __init__(self, make: Callable[[Any, int], Any], note: Note) -> None:
        self._make, self._note = make, note

    def patch(self, module: types.ModuleType) -> None:
        """Put this in front of `load`; what the catalogue does not have is left to fail."""
        load = getattr(module, "load")  # noqa: B009 - a missing one, where the library is not installed
        known: dict[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))

        def loaded(name: str, **options: Any) -> Any:
            entry = known.get(name.partition(":")[0])
            if entry is None:
                return load(name, **options)
            self._note(f"tfds.load({name!r}) gave made-up elements of the same dtypes and shapes")
            return self._loaded(entry, **options)

        vars(module)["load"] = loaded

    def _loaded(
        self,
        entry: dict[str, Any],
        split: Any = None,
        batch_size: int | None = None,
        as_supervised: bool = False,
        with_info: bool = False,
        **_: Any,
    ) -> Any:
        features, splits = entry["features"], entry["splits"]
        spec: Any = {name: _spec(*feature) for name, feature in features.items()}
        if as_supervised:
            spec = [spec[name] for name in entry["supervised"]]

        def part(asked: Any) -> Any:
            if isinstance(asked, (list, tuple)):
                return type(asked)(map(part, asked))
            count = max(1, _count(str(asked), splits))
            if batch_size == -1:
                return next(iter(self._make(spec, count).batch(count)))
            made = self._make(spec, count)
            return made if batch_size is None else made.batch(batch_size)

        data = {name: part(name) for name in splits} if split is None else part(split)
        return (data, _info(entry)) if with_info else data


def _spec(dtype: str, shape: list[int | None]) -> tuple[str, tuple[int, ...]]:
    return dtype, tuple(SIDE if size is None else size for size in shape)


def _count(split: str, splits: dict[str, int]) -> int:
    """The number of elements of a split with its slices: `train[:80%]+test`."""
    total = 0
    for part in split.split("+"):
        name, _, inside = part.strip().partition("[")
        whole = splits.get(name, 0) if name != "all" else sum(splits.values())
        start, _, end = inside.rstrip("]").partition(":")
        total += _place(end, whole, whole) - _place(start, whole, 0) if inside else whole
    return total


def _place(text: str, whole: int, default: int) -> int:
    found = re.fullmatch(r"(-?\d+)(%?)", text.strip())
    if found is None:
        return default
    place = whole * int(found[1]) // 100 if found[2] else int(found[1])
    return max(0, min(whole, place if place >= 0 else whole + place))


def _info(entry: dict[str, Any]) -> Any:
    """What is known of a data set, by the names that `DatasetInfo` has for it."""
    space = types.SimpleNamespace
    labels = {"num_classes": CLASSES, "names": [f"class_{number}" for number in range(CLASSES)]}
    features = {
        name: space(dtype=dtype, shape=tuple(shape), int2str=lambda number: f"class_{int(number)}", **labels)
        for name, (dtype, shape) in entry["features"].items()
    }
    splits = {name: space(name=name, num_examples=count) for name, count in entry["splits"].items()}
    return space(features=features, splits=splits, supervised_keys=tuple(entry["supervised"] or ()))
