"""Stands in for the data sets of scikit-learn that it fetches, or does not have any more; loaded by `main.py`.

Rows have the numbers, dtypes and features of the real ones; what is in them is made up and the same in every run.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

TABLES: dict[str, tuple[int, tuple[int, ...], str, int]] = {
    "load_boston": (506, (13,), "float64", 0),
    "fetch_california_housing": (20640, (8,), "float64", 0),
    "fetch_covtype": (581012, (54,), "float64", 7),
    "fetch_olivetti_faces": (400, (64, 64), "float32", 40),
    "fetch_lfw_people": (13233, (62, 47), "float32", 5749),
}
"""Rows, shape of a row, dtype, and the number of classes, 0 for numbers to be predicted."""

OF_OPENML: dict[str, tuple[int, tuple[int, ...], str, int]] = {
    "mnist_784": (70000, (784,), "float64", 10),
    "Fashion-MNIST": (70000, (784,), "float64", 10),
    "CIFAR_10": (60000, (3072,), "float64", 10),
}
POSTS = {"train": 11314, "test": 7532, "all": 18846}
GROUPS, WORDS_OF_POST = 20, 180


class SklearnData:
    """The data sets of one run."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def patch(self, datasets: types.ModuleType) -> None:
        """Put this in the place of the functions that fetch, and of those that are gone."""
        for name, table in TABLES.items():
            vars(datasets)[name] = self._loads(f"{name}()", table, as_frame=False)
        fetch = vars(datasets)["fetch_openml"]
        by_name = {name.lower(): table for name, table in OF_OPENML.items()}

        def fetch_openml(name: Any = None, **options: Any) -> Any:
            table = by_name.get(str(name).lower())
            if table is None:
                return fetch(name, **options)
            options.setdefault("as_frame", True)
            return self._loads(f"fetch_openml({name!r})", table, as_frame=True)(**options)

        vars(datasets).update(fetch_openml=fetch_openml, fetch_20newsgroups=self._posts)

    def _loads(self, words: str, table: tuple[int, tuple[int, ...], str, int], as_frame: bool) -> Any:
        rows, shape, dtype, classes = table

        def load(*_: Any, return_X_y: bool = False, **options: Any) -> Any:
            self._note(f"{words} of scikit-learn gave made-up rows of the same number and features")
            numpy = importlib.import_module("numpy")
            draw = numpy.random.default_rng(0)
            values = draw.random((rows, *shape), dtype="float32").astype(dtype, copy=False)
            target = draw.integers(0, classes, rows) if classes else draw.random(rows)
            if "openml" in words:
                target = target.astype(str).astype(object)
            data, names = values.reshape(rows, -1), [f"feature_{number}" for number in range(values[0].size)]
            frame = None
            if as_frame and options.get("as_frame", False):
                pandas = importlib.import_module("pandas")
                data, target = pandas.DataFrame(data, columns=names), pandas.Series(target, name="class")
                frame = pandas.concat([data, target], axis=1)
            if return_X_y:
                return data, target
            return _bunch(
                data=data,
                target=target,
                frame=frame,
                images=values,
                feature_names=names,
                target_names=[f"class_{number}" for number in range(classes)] or ["target"],
            )

        return load

    def _posts(self, *_: Any, subset: str = "train", categories: Any = None, **options: Any) -> Any:
        count, groups = POSTS.get(subset, POSTS["train"]), len(categories) if categories else GROUPS
        count = count * groups // GROUPS
        self._note("fetch_20newsgroups() of scikit-learn gave made-up texts of the same number")
        numpy = importlib.import_module("numpy")
        draw = numpy.random.default_rng(0)
        data = [" ".join(f"word{word}" for word in draw.integers(0, 5000, WORDS_OF_POST)) for _ in range(count)]
        target = draw.integers(0, groups, count)
        if options.get("return_X_y"):
            return data, target
        names = list(categories or (f"class_{number}" for number in range(groups)))
        return _bunch(data=data, target=target, target_names=names)


def _bunch(**fields: Any) -> Any:
    return importlib.import_module("sklearn.utils").Bunch(DESCR="", **fields)
