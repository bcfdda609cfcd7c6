"""Stands in for the parts of scikit-learn that prepare data and count results, where it is not installed; loaded by
`main.py`.

What they give has the dtype, the shape and the copies of the real ones, and mostly the same numbers. Whatever else the
library has can be named, and computes nothing.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Note = Callable[[str], None]

NAME = "sklearn"
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
        there = sys.modules.get(NAME)
        if fullname.partition(".")[0] != NAME or not (self._asked() or getattr(there, "__loader__", None) is self):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return self._make(spec.name)  # type: ignore[no-any-return]

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ == NAME:
            self._note("scikit-learn is not installed: what does the same splits, scales and encodes data in its place")
        vars(module).update(_NAMES.get(module.__name__, {}))
        if module.__name__ == f"{NAME}.datasets":
            vars(module)["fetch_openml"] = getattr(module, "fetch_openml")  # noqa: B009 - a missing name, as a value
            self._data.patch(module)


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


# -- scaling and encoding --------------------------------------------------------------------------------------------


class _Transformer:
    """What learns numbers of the columns of a table, and computes with them."""

    def __init__(self, *_: Any, **options: Any) -> None:
        self.options = options

    def fit(self, X: Any, *_: Any, **__: Any) -> Any:
        self._learn(_floats(X, copy=False))
        return self

    def fit_transform(self, X: Any, *_: Any, **__: Any) -> Any:
        return self.fit(X).transform(X)

    def _learn(self, X: Any) -> None:
        """Nothing."""

    def transform(self, X: Any, *_: Any, **__: Any) -> Any:
        return _floats(X, copy=True)

    inverse_transform = transform


class _Scaler(_Transformer):
    """Takes a number off each column and divides by another one."""

    def _of(self, X: Any) -> tuple[Any, Any]:
        return X.mean(axis=0), X.std(axis=0)

    def _learn(self, X: Any) -> None:
        numpy = _numpy()
        self.mean_, scale = self._of(X)
        self.scale_ = numpy.where(scale == 0, 1, scale)
        self.var_, self.data_min_, self.data_max_ = scale**2, X.min(axis=0), X.max(axis=0)
        self.n_features_in_ = X.shape[1]

    def transform(self, X: Any, *_: Any, **__: Any) -> Any:
        made = _floats(X, copy=True)
        made -= self.mean_.astype(made.dtype)
        made /= self.scale_.astype(made.dtype)
        return made

    def inverse_transform(self, X: Any, *_: Any, **__: Any) -> Any:
        made = _floats(X, copy=True)
        made *= self.scale_.astype(made.dtype)
        made += self.mean_.astype(made.dtype)
        return made


class _MinMax(_Scaler):
    def _of(self, X: Any) -> tuple[Any, Any]:
        least = X.min(axis=0)
        return least, X.max(axis=0) - least


class _MaxAbs(_Scaler):
    def _of(self, X: Any) -> tuple[Any, Any]:
        most = abs(X).max(axis=0)
        return most * 0, most


class _Robust(_Scaler):
    def _of(self, X: Any) -> tuple[Any, Any]:
        numpy = _numpy()
        low, middle, high = numpy.percentile(X, (25, 50, 75), axis=0)
        return middle, high - low


class _Normalizer(_Transformer):
    def transform(self, X: Any, *_: Any, **__: Any) -> Any:
        made = _floats(X, copy=True)
        made /= ((made**2).sum(axis=1, keepdims=True) ** 0.5).clip(1e-12)
        return made


class _Components(_Transformer):
    """As many columns as components are asked for."""

    def transform(self, X: Any, *_: Any, **__: Any) -> Any:
        made, number = _floats(X, copy=False), self.options.get("n_components")
        return made[:, : number if isinstance(number, int) else None].copy()


class _Labels:
    """Numbers for classes."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.classes_: Any = None

    def fit(self, y: Any, *_: Any) -> Any:
        self.classes_ = _numpy().unique(_numpy().asarray(y))
        return self

    def transform(self, y: Any) -> Any:
        return _numpy().searchsorted(self.classes_, _numpy().asarray(y).ravel())

    def fit_transform(self, y: Any, *_: Any) -> Any:
        return self.fit(y).transform(y)

    def inverse_transform(self, y: Any) -> Any:
        return self.classes_[_numpy().asarray(y)]


class _Binarizer(_Labels):
    def transform(self, y: Any) -> Any:
        rows = super().transform(y)
        if len(self.classes_) <= 2:
            return rows.reshape(-1, 1)
        return _numpy().eye(len(self.classes_), dtype="int64")[rows]


class _OneHot(_Transformer):
    """A column for each value of each column; an object that gives the array where a sparse one is asked for."""

    def fit(self, X: Any, *_: Any, **__: Any) -> Any:
        numpy = _numpy()
        self.categories_ = [numpy.unique(each) for each in _columns(X)]
        return self

    def transform(self, X: Any, *_: Any, **__: Any) -> Any:
        numpy = _numpy()
        parts = [
            (column.reshape(-1, 1) == known).astype("float64")
            for column, known in zip(_columns(X), self.categories_, strict=True)
        ]
        made = numpy.concatenate(parts, axis=1)
        dense = not self.options.get("sparse_output", self.options.get("sparse", True))
        return made if dense else _Sparse(made)


class _Sparse:
    def __init__(self, dense: Any) -> None:
        self._dense, self.shape, self.dtype = dense, dense.shape, dense.dtype

    def toarray(self) -> Any:
        return self._dense

    todense = toarray


def _columns(X: Any) -> Iterator[Any]:
    table = _numpy().asarray(X)
    yield from table.reshape(len(table), -1).T


def _floats(X: Any, copy: bool) -> Any:
    """A table of floats, which single ones stay. Raises ValueError for what is none, as the library does."""
    numpy = _numpy()
    made = numpy.asarray(X)
    if made.ndim != 2:
        raise ValueError(f"Found array with dim {made.ndim}. {NAME} expected 2D array")
    kind = made.dtype if made.dtype in (numpy.float32, numpy.float64) else numpy.float64
    return made.astype(kind, copy=copy or made.dtype != kind)


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
    f"{NAME}.preprocessing": {
        "StandardScaler": _Scaler,
        "MinMaxScaler": _MinMax,
        "MaxAbsScaler": _MaxAbs,
        "RobustScaler": _Robust,
        "Normalizer": _Normalizer,
        "PowerTransformer": _Scaler,
        "QuantileTransformer": _MinMax,
        "LabelEncoder": _Labels,
        "LabelBinarizer": _Binarizer,
        "OneHotEncoder": _OneHot,
    },
    f"{NAME}.model_selection": {"train_test_split": train_test_split, "KFold": KFold, "StratifiedKFold": KFold},
    f"{NAME}.decomposition": {"PCA": _Components, "TruncatedSVD": _Components},
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
