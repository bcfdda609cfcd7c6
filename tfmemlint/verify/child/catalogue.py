"""Stands in for the catalogue of `tensorflow_datasets`, which a program without network cannot fetch from; loaded by
`main.py`. Elements have the dtypes, shapes and number that the catalogue tells; what is in them is made up."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Note = Callable[[str], None]

KNOWN = Path(__file__).parents[2] / "knowledge" / "tfds.json"
SIDE = 256
"""Elements along an axis whose length differs from element to element."""

ITEMS = 16
"""Items of a list whose length differs from element to element."""

COUNT, COUNT_OF_MANY = 256, 8192
"""Elements of a split of which nobody knows how many it has, and where there are to be many."""

SPLITS = ("train", "validation", "test")
"""The usual splits, where nobody knows which there are."""

CLASSES = 10
"""Classes of labels, whose number the catalogue's table does not tell."""


class Catalogue:
    """The data sets of one run; `make` makes a data set of a description of its elements and their number, `made_up`
    notes what has a size of its own, with `many` elements where nobody knows how many there are."""

    def __init__(self, make: Callable[[Any, int], Any], note: Note, made_up: Note, many: bool = False) -> None:
        self._make, self._note, self._made_up = make, note, made_up
        self._count = COUNT_OF_MANY if many else COUNT

    def patch(self, module: types.ModuleType) -> None:
        """Put this in front of `load`; what the catalogue does not have is left to fail, but for what the library
        itself can tell without network."""
        load = getattr(module, "load")  # noqa: B009 - a missing one, where the library is not installed
        known: dict[str, Any] = json.loads(KNOWN.read_text(encoding="utf-8"))

        def loaded(name: str, **options: Any) -> Any:
            entry = known.get(name.partition(":")[0])
            if entry is None:
                entry = _as_built(module, name, self._count)
                if entry is None:
                    return load(name, **options)
                self._made_up(f"tfds.load({name!r}) gave {self._count} made-up elements of the same dtypes")
                return self._loaded(entry, **options)
            self._note(f"tfds.load({name!r}) gave made-up elements of the same dtypes and shapes")
            return self._loaded(entry, **options)

        vars(module)["load"] = loaded
        self._name_texts(module)

    def _name_texts(self, module: Any) -> None:
        """Let the encoders of texts be found where they were: `tfds.features.text`."""
        features, older = vars(module).get("features"), vars(module).get("deprecated")
        if features is None or older is None or hasattr(features, "text"):
            return

        def __getattr__(name: str) -> Any:
            if name != "text":
                raise AttributeError(f"module '{features.__name__}' has no attribute '{name}'")
            self._note("tfds.features.text is taken from where it is now, tfds.deprecated.text")
            return older.text

        features.__getattr__ = __getattr__

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
        spec: Any = {name: _spec(feature) for name, feature in features.items()}
        if as_supervised:
            spec = [_part(spec, names) for names in entry["supervised"]]

        def part(asked: Any) -> Any:
            if isinstance(asked, (list, tuple)):
                return type(asked)(map(part, asked))
            count = max(1, _count(str(asked), splits))
            if batch_size == -1:
                return next(iter(self._make(spec, count).batch(count)))
            made = self._make(spec, count)
            return made if batch_size is None else made.batch(batch_size)

        data = _like(splits, part) if split is None else part(split)
        return (data, _info(entry)) if with_info else data


class _Splits(dict[str, Any]):
    """Something for each split, whatever it is called."""

    def __init__(self, make: Callable[[str], Any], names: Iterable[str]) -> None:
        super().__init__((name, make(name)) for name in names)
        self._make = make

    def __missing__(self, name: str) -> Any:
        self[name] = self._make(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return True

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


def _like(splits: dict[str, int], make: Callable[[str], Any]) -> dict[str, Any]:
    """Something for each of these splits, or for any where any may be there."""
    return _Splits(make, splits) if isinstance(splits, _Splits) else {name: make(name) for name in splits}


def _as_built(module: Any, name: str, count: int) -> dict[str, Any] | None:
    """An entry for a data set as the installed library describes it, with so many elements; None where it cannot."""
    try:
        info = module.builder(name).info
        features = info.features.get_tensor_info()
    except Exception:  # whatever a library without network says of a name that it may not know
        return None
    if not isinstance(features, dict):
        return None
    described = {each: _described(feature) for each, feature in features.items()}
    return {"features": described, "supervised": info.supervised_keys, "splits": _Splits(lambda _: count, SPLITS)}


def _described(feature: Any) -> Any:
    if isinstance(feature, dict):
        return {name: _described(part) for name, part in feature.items()}
    return getattr(feature.dtype, "name", None) or getattr(feature.dtype, "__name__", "string"), list(feature.shape)


def _spec(feature: Any) -> Any:
    """A description of an element, or of a part of it, with sizes for axes that differ from element to element."""
    if isinstance(feature, dict):
        return {name: _spec(part) for name, part in feature.items()}
    dtype, shape = feature
    unknown = SIDE if len(shape) > 2 else ITEMS
    return dtype.removesuffix("_"), tuple(unknown if size is None else size for size in shape)


def _part(spec: Any, names: Any) -> Any:
    """What is one side of a supervised pair: a feature, or several by their names."""
    return {name: spec[of] for name, of in names.items()} if isinstance(names, dict) else spec[names]


def _count(split: str, splits: dict[str, int]) -> int:
    """The number of elements of a split with its slices: `train[:80%]+test`."""
    total = 0
    for part in split.split("+"):
        name, _, inside = part.strip().partition("[")
        if name == "all":
            whole = sum(splits.values())
        else:
            whole = splits[name] if name in splits else 0  # noqa: SIM401 - of those that may have any name
        start, _, end = inside.rstrip("]").partition(":")
        total += _place(end, whole, whole) - _place(start, whole, 0) if inside else whole
    return total


def _place(text: str, whole: int, default: int) -> int:
    found = re.fullmatch(r"(-?\d+)(%?)", text.strip())
    if found is None:
        return default
    place = whole * int(found[1]) // 100 if found[2] else int(found[1])
    return max(0, min(whole, place if place >= 0 else whole + place))


class _Encoder:
    """What older versions of the library had for texts that are numbers."""

    vocab_size = 8185

    def encode(self, text: str) -> list[int]:
        return [1 + hash(word) % (self.vocab_size - 1) for word in text.split()]

    def decode(self, numbers: Any) -> str:
        return " ".join(f"word{int(number)}" for number in numbers)


def _info(entry: dict[str, Any]) -> Any:
    """What is known of a data set, by the names that `DatasetInfo` has for it."""
    space = types.SimpleNamespace
    labels = {"num_classes": CLASSES, "names": [f"class_{number}" for number in range(CLASSES)], "encoder": _Encoder()}
    single = {name: each for name, each in entry["features"].items() if not isinstance(each, dict)}
    features = {
        name: space(dtype=dtype, shape=tuple(shape), int2str=lambda number: f"class_{int(number)}", **labels)
        for name, (dtype, shape) in single.items()
    }
    counts = entry["splits"]
    splits = _like(counts, lambda name: space(name=name, num_examples=counts[name]))
    return space(features=features, splits=splits, supervised_keys=tuple(entry["supervised"] or ()))
