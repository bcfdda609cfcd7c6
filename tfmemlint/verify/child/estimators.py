"""Stands in for what makes estimators of models of Keras (`KerasClassifier`), where it is gone or not installed, and
for the searches of scikit-learn that train them; loaded by `main.py`.

Each training is a round: its models are what a finding about a search is about.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import inspect
import itertools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

KERAS = ("keras.", "tensorflow.keras.", "tensorflow.python.keras.", "tf_keras.")
GONE = "wrappers.scikit_learn"
LIBRARIES = ("scikeras", "scikeras.wrappers")
OF_FIT = ("batch_size", "callbacks", "epochs", "shuffle", "validation_data", "validation_split", "verbose")
OF_MODELS = "model__"
"""What names of parameters begin with that are handed to the function which makes the model."""

MOST = 50
"""Trainings of one program; those that follow train nothing."""


class Estimators(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of such estimators. `asked` tells whether the program's own files ask; `marked` whether the
    program marks its rounds itself; `rounds` is told where trainings are left out."""

    def __init__(
        self, asked: Callable[[], bool], marked: bool, rounds: dict[str, Any], note: Callable[[str], None]
    ) -> None:
        self._asked, self._marked, self._rounds, self._note = asked, marked, rounds, note
        self._count = 0

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        wanted = fullname in LIBRARIES or (fullname.endswith(f".{GONE}") and fullname.startswith(KERAS))
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if wanted and self._asked() else None

    def exec_module(self, module: types.ModuleType) -> None:
        self._note(f"{module.__name__} is not there: its estimators train the models that they are given")
        made = {"KerasClassifier": self._kind("Classifier"), "KerasRegressor": self._kind("Regressor")}
        vars(module).update(made, BaseWrapper=made["KerasRegressor"])

    def _kind(self, name: str) -> Any:
        own = {"of_classes": name == "Classifier", "begin": self.begin}
        return type(f"Keras{name}", (_Estimator, *_bases(f"{name}Mixin")), own)

    def begin(self) -> bool:
        """Count a training; whether it takes place."""
        self._count += 1
        if self._count > MOST:
            self._rounds.update(rounds=MOST, rounds_cut=True)
            self._note(f"estimators were trained {MOST} times, and what followed trained nothing")
        elif not self._marked:
            builtins.tfmemlint_mark()  # type: ignore[attr-defined]
        return self._count <= MOST


def _bases(mixin: str) -> tuple[Any, ...]:
    try:
        base = importlib.import_module("sklearn.base")
    except ImportError:
        return ()
    found = getattr(base, mixin), base.BaseEstimator
    return found if all(isinstance(each, type) for each in found) else ()  # a stand-in has no classes of that kind


class _Estimator:
    """An estimator that makes a model and trains it."""

    of_classes: bool
    begin: Callable[[], bool]

    def __init__(self, build_fn: Any = None, model: Any = None, **params: Any) -> None:
        self.build_fn, self.model, self.sk_params = build_fn, model, params

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"build_fn": self.build_fn, "model": self.model, **self.sk_params}

    def set_params(self, **params: Any) -> Any:
        for name in ("build_fn", "model"):
            setattr(self, name, params.pop(name, getattr(self, name)))
        self.sk_params = {**self.sk_params, **params}
        return self

    def fit(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        self.classes_, self._of = _classes(y), y
        if not type(self).begin():
            return self
        self.model_ = self._made()
        params = {**self.sk_params, **kwargs}
        given = {name: params[name] for name in OF_FIT if name in params}
        self.history_ = self.model_.fit(X, _as_compared(self.model_, y), **given)
        return self

    def _made(self) -> Any:
        make = self.model if self.model is not None else self.build_fn
        if not callable(make) or hasattr(make, "fit"):
            return make
        takes = inspect.signature(make).parameters
        given = {name.removeprefix(OF_MODELS): value for name, value in self.sk_params.items()}
        made = make(**{name: value for name, value in given.items() if name in takes})
        if getattr(made, "optimizer", None) is None:
            made.compile(given.get("optimizer", "rmsprop"), given.get("loss", "mse"))
        return made

    def predict(self, X: Any, **_: Any) -> Any:
        numpy = importlib.import_module("numpy")
        found = numpy.asarray(self.model_.predict(X, verbose=0))
        if not self.of_classes:
            return found.squeeze()
        best = found.reshape(len(found), -1).argmax(axis=1)
        return best if numpy.ndim(self._of) < 2 else numpy.eye(numpy.shape(self._of)[1])[best]

    def predict_proba(self, X: Any, **_: Any) -> Any:
        return self.model_.predict(X, verbose=0)

    def score(self, X: Any, y: Any = None, **_: Any) -> float:
        """No value that says anything of made-up data."""
        return 0.5


def _classes(y: Any) -> Any:
    numpy = importlib.import_module("numpy")
    return numpy.arange(numpy.shape(y)[1]) if numpy.ndim(y) > 1 else numpy.unique(y) if y is not None else None


def _as_compared(model: Any, y: Any) -> Any:
    """Labels as a row for each class, where the loss compares them so."""
    loss, numpy = getattr(model, "loss", None), importlib.import_module("numpy")
    if getattr(loss, "name", loss) != "categorical_crossentropy" or numpy.ndim(y) != 1:
        return y
    _, places = numpy.unique(y, return_inverse=True)
    return numpy.eye(model.output_shape[-1], dtype="float32")[places]


# -- searches, where scikit-learn is not installed ---------------------------------------------------------------------


def _folds(X: Any, cv: Any) -> Iterator[tuple[Any, Any]]:
    numpy = importlib.import_module("numpy")
    if hasattr(cv, "split"):
        yield from cv.split(X)
        return
    rows = numpy.arange(len(X))
    for test in numpy.array_split(rows, cv or 5):
        yield numpy.setdiff1d(rows, test), test


def _trained(estimator: Any, params: Mapping[str, Any], X: Any, y: Any, rows: Any = None, **how: Any) -> Any:
    fresh = type(estimator)(**{**estimator.get_params(), **params})
    numpy = importlib.import_module("numpy")
    given = [numpy.asarray(each) for each in (X, y) if each is not None]
    return fresh.fit(*(each if rows is None else each[rows] for each in given), **how)


def cross_val_score(estimator: Any, X: Any, y: Any = None, cv: Any = None, **_: Any) -> Any:
    """A score for each fold, for which a new estimator is trained."""
    scores = [_trained(estimator, {}, X, y, train).score(X, y) for train, _ in _folds(X, cv)]
    return importlib.import_module("numpy").array(scores)


class Search:
    """A search over all values, or the first of them."""

    def __init__(
        self, estimator: Any, param_grid: Any = None, cv: Any = None, n_iter: int | None = None, **how: Any
    ) -> None:
        values = how.get("param_distributions", param_grid) or {}
        self.estimator, self.cv, self._values, self._most = estimator, cv, values, n_iter

    def fit(self, X: Any, y: Any = None, **how: Any) -> Any:
        parts = self._values if isinstance(self._values, list) else [self._values]
        each_of = ((part, each) for part in parts for each in itertools.product(*map(list, part.values())))
        trials = [dict(zip(part, each, strict=True)) for part, each in itertools.islice(each_of, self._most)]
        for params in trials:
            for train, _ in _folds(X, self.cv):
                _trained(self.estimator, params, X, y, train, **how)
        self.best_params_, self.best_score_, scores = trials[0], 0.5, [0.5] * len(trials)
        self.best_estimator_ = _trained(self.estimator, trials[0], X, y, **how)
        self.cv_results_ = {"mean_test_score": scores, "std_test_score": scores, "params": trials}
        return self

    def predict(self, X: Any) -> Any:
        return self.best_estimator_.predict(X)

    def score(self, X: Any, y: Any = None) -> Any:
        return self.best_estimator_.score(X, y)


SEARCHES = {"GridSearchCV": Search, "RandomizedSearchCV": Search, "cross_val_score": cross_val_score}
