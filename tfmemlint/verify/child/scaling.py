"""Does what scikit-learn does to scale and encode data, with the same dtypes, shapes and copies; loaded by `main.py`
before `sklearn_here.py`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

NAME = "sklearn"


def _numpy() -> Any:
    return importlib.import_module("numpy")


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


KINDS = {
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
}
COMPONENTS = {"PCA": _Components, "TruncatedSVD": _Components}
