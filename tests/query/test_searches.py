"""Which functions a search runs for each trial."""

import pytest
from programs import model_of

from tfmemlint.query.keras.searches import given_back, trial_clears, trial_count, trials

IMPORTS = """
import hyperopt, keras_tuner, optuna
from scikeras.wrappers import KerasRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
def f(a, b=3):
    return keras.Sequential()
class F:
    def __call__(self, trial): pass
study = optuna.create_study()
"""

TRIALS = [
    ("study.optimize(f, n_trials=100)", "f"),
    ("study.optimize(func=f)", "f"),
    ("study.optimize(f, n_trials=3)", None),
    ("study.optimize(lambda trial: f(trial, x))", "f"),
    ("study.optimize(F())", "__call__"),
    ("study.optimize(unknown)", None),
    ("hyperopt.fmin(f, space, max_evals=40)", "f"),
    ("other.optimize(f)", None),
    ("keras_tuner.RandomSearch(f)", None),
    ("GridSearchCV(KerasRegressor(f), grid, cv=3)", "f"),
    ("cross_val_score(KerasRegressor(model=f), x, y)", "f"),
    ("cross_val_score(KerasRegressor(model=f), x, y, cv=3)", None),
    ("cross_val_score(KerasRegressor(model=f), x, y, n_jobs=4)", None),
    ("net = KerasRegressor(f)\ncross_val_score(Pipeline([('net', net)]), x, y)", "f"),
    ("steps = []\nsteps.append(('net', KerasRegressor(f)))\ncross_val_score(Pipeline(steps), x, y)", "f"),
    ("KerasRegressor(f).fit(x, y)", None),
]


@pytest.mark.parametrize(("program", "expected"), TRIALS)
def test_functions_that_searches_run(program: str, expected: str | None) -> None:
    found = [trial.function.name.value for trial in trials.of(model_of(IMPORTS + program))]
    assert found == ([] if expected is None else [expected])


CLEARS = [
    ("def g(t):\n    keras.backend.clear_session()\nstudy.optimize(g)", True),
    ("study.optimize(f, callbacks=[lambda s, t: keras.backend.clear_session()])", True),
    ("study.optimize(f, callbacks=[show])", False),
    ("keras.backend.clear_session()\nstudy.optimize(f)", False),
]


@pytest.mark.parametrize(("program", "expected"), CLEARS)
def test_trials_that_clear_the_session(program: str, expected: bool) -> None:
    file = model_of(IMPORTS + program)
    (trial,) = trials.of(file)
    assert trial_clears(file, trial) is expected


def test_the_call_that_makes_what_a_factory_gives_back() -> None:
    factory = "def g():\n    base = keras.Sequential()\n    return f(1)\n"
    file = model_of(IMPORTS + factory + "GridSearchCV(KerasRegressor(g))")
    (trial,) = trials.of(file)
    made = given_back(file, trial)
    assert made is not None and made.method == "f"


COUNTS = [
    ("cross_val_score(m, x, y, cv=10)", 10),
    ("folds = KFold(n_splits=7)\ncross_val_score(m, x, y, cv=folds)", 7),
    ("cross_val_score(m, x, y, cv=StratifiedKFold(4))", 4),
    ("cross_val_score(m, x, y, cv=folds)", None),
    ("cross_val_score(m, x, y)", 5),
]


@pytest.mark.parametrize(("program", "expected"), COUNTS)
def test_how_many_trials_a_search_makes(program: str, expected: int | None) -> None:
    file = model_of("from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score\n" + program)
    assert trial_count(file, next(file.calls("sklearn.model_selection.cross_val_score"))) == expected
