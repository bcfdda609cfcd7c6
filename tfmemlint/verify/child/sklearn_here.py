"""Stands in for the parts of scikit-learn that prepare data and count results, where it is not installed; loaded by
`main.py`.

What they give has the dtype, the shape and the copies of the real ones, and mostly the same numbers. Whatever else the
library has can be named, and computes nothing.
"""

from __future__ import annotations

import copy
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Note = Callable[[str], None]

NAME = "sklearn"
_scaling: Any = importlib.import_module("tfmemlint_scaling")
TEST_SIZE = 0.25
SMALL = {
    "load_iris": (150, (4,), "float64", 3),
    "load_wine": (178, (13,), "float64", 3),
    "load_digits": (1797, (8, 8), "float64", 10),
    "load_breast_cancer": (569, (30,), "float64", 2),
    "load_diabetes": (442, (10,), "float64", 0),
}
"""Data sets that come with the library, as `sklearn_data.py` has those that it fetches."""


def _numpy() -> Any:
    return importlib.import_module("numpy")


class Sklearn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for it where nothing else does. `make` makes a module whose other names are missing, `data` fills the one
    of data sets."""

    def __init__(
        self, asked: Callable[[], bool], make: Callable[[str], Any], data: Any, small: dict[str, Any], note: Note
    ) -> None:
        """`small` is where the data sets are said that come with the library."""
        self._asked, self._make, self._data, self._note = asked, make, data, note
        small.update(SMALL)

    def install(self) -> None:
        """Come after what finds the library, and before what stands in for those that nobody finds."""
        sys.meta_path.append(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        begun = isinstance(getattr(sys.modules.get(NAME), "__loader__", None), Sklearn)
        if fullname.partition(".")[0] != NAME or not (self._asked() or begun):
            return None
        # Each has a loader of its own, as what changes a module that is imported changes its loader.
        return importlib.machinery.ModuleSpec(fullname, copy.copy(self), is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._make(spec.name)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ == NAME:
            module.__getattr__ = _below  # type: ignore[method-assign]
            self._note("scikit-learn is not installed: what does the same splits, scales and encodes data in its place")
        vars(module).update(_NAMES.get(module.__name__, {}))
        if module.__name__ == f"{NAME}.datasets":
            vars(module)["fetch_openml"] = getattr(module, "fetch_openml")  # noqa: B009 - a missing name, as a value
            self._data.patch(module)


def _below(name: str) -> Any:
    """A module of the package, which `from sklearn import name` asks for as an attribute."""
    if f"{NAME}.{name}" not in _NAMES and name != "datasets":
        raise AttributeError(name)
    return importlib.import_module(f"{NAME}.{name}")


# -- rows ------------------------------------------------------------------------------------------------------------


def _rows(data: Any) -> int:
    shape = getattr(data, "shape", None)
    return int(shape[0]) if shape else len(data)


def _taken(data: Any, rows: Any) -> Any:
    """These rows, copied as fancy indexing does."""
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    return data[rows] if hasattr(data, "dtype") else type(data)(data[row] for row in rows)


def _part(size: Any, count: int) -> int:
    return int(size) if isinstance(size, int) or size > 1 else int(-(-size * count // 1))


def train_test_split(*arrays: Any, test_size: Any = None, train_size: Any = None, **options: Any) -> list[Any]:
    """Rows of each, those of the test behind those of the training."""
    count = _rows(arrays[0])
    if test_size is None:
        test_size = TEST_SIZE if train_size is None else count - (count - _part(1 - train_size, count))
    test = min(max(1, _part(test_size, count)), count - 1)
    train = count - test if train_size is None else min(_part(train_size, count), count - test)
    order = _order(count, options)
    return [part for each in arrays for part in (_taken(each, order[:train]), _taken(each, order[train:][:test]))]


def _order(count: int, options: dict[str, Any]) -> Any:
    numpy = _numpy()
    return numpy.random.default_rng(0).permutation(count) if options.get("shuffle", True) else numpy.arange(count)


def shuffle(*arrays: Any, **_: Any) -> Any:
    """All rows of each in another order."""
    order = _order(_rows(arrays[0]), {})
    found = [_taken(each, order) for each in arrays]
    return found[0] if len(found) == 1 else found


class KFold:
    """Indices of the rows of each fold."""

    def __init__(self, n_splits: int = 5, **_: Any) -> None:
        self.n_splits = n_splits

    def split(self, X: Any, *_: Any, **__: Any) -> Iterator[Any]:
        numpy = _numpy()
        rows = numpy.arange(_rows(X))
        for test in numpy.array_split(rows, self.n_splits):
            yield numpy.setdiff1d(rows, test), test

    def get_n_splits(self, *_: Any, **__: Any) -> int:
        return self.n_splits


# -- results ---------------------------------------------------------------------------------------------------------


def _error(power: int) -> Callable[..., float]:
    def error(y_true: Any, y_pred: Any, **_: Any) -> float:
        numpy = _numpy()
        difference = numpy.asarray(y_true, "float64").ravel() - numpy.asarray(y_pred, "float64").ravel()
        return float((abs(difference) ** power).mean())

    return error


def _score(*_: Any, **__: Any) -> float:
    return 0.5


def confusion_matrix(y_true: Any, y_pred: Any, **_: Any) -> Any:
    numpy = _numpy()
    labels, places = numpy.unique(numpy.concatenate([numpy.ravel(y_true), numpy.ravel(y_pred)]), return_inverse=True)
    made = numpy.zeros((len(labels), len(labels)), "int64")
    numpy.add.at(made, tuple(places.reshape(2, -1)), 1)
    return made


def _report(*_: Any, output_dict: bool = False, **__: Any) -> Any:
    return {"accuracy": _score()} if output_dict else "              precision    recall  f1-score   support"


def compute_class_weight(class_weight: Any = None, *, classes: Any = (), y: Any = None, **_: Any) -> Any:
    return _numpy().ones(len(classes))


class Bunch(dict[str, Any]):
    """A dictionary whose items are attributes."""

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]


SCORES = ("accuracy_score", "f1_score", "precision_score", "r2_score", "recall_score", "roc_auc_score")
_NAMES: dict[str, dict[str, Any]] = {
    f"{NAME}.preprocessing": _scaling.KINDS,
    f"{NAME}.model_selection": {
        "train_test_split": train_test_split,
        "KFold": KFold,
        "StratifiedKFold": KFold,
        **importlib.import_module("tfmemlint_estimators").SEARCHES,
    },
    f"{NAME}.decomposition": _scaling.COMPONENTS,
    f"{NAME}.metrics": {
        **dict.fromkeys(SCORES, _score),
        "confusion_matrix": confusion_matrix,
        "classification_report": _report,
        "mean_squared_error": _error(2),
        "mean_absolute_error": _error(1),
    },
    f"{NAME}.utils": {"shuffle": shuffle, "Bunch": Bunch, "compute_class_weight": compute_class_weight},
    f"{NAME}.utils.class_weight": {"compute_class_weight": compute_class_weight},
}
