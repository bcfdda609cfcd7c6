"""pandas and scikit-learn: tables from files, bundled data sets and scalers, with the dtypes of their arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import (
    Array,
    Bunch,
    Cells,
    Const,
    DataFrame,
    Instance,
    Method,
    Sequence,
    Table,
    Unknown,
    Value,
    integer,
)

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

READERS = ("read_csv", "read_table", "read_fwf", "read_excel", "read_json", "read_sql", "read_html")
"""Of pandas: what reads text, in which no column is float32."""

KEEPS = ("drop", "dropna", "drop_duplicates", "fillna", "copy", "head", "tail", "sample", "reset_index", "set_index",
         "sort_values", "sort_index", "rename", "pop", "clip", "abs", "round", "diff", "shift", "transpose", "query",
         "interpolate", "ffill", "bfill", "filter")  # fmt: skip
"""Methods of a DataFrame that give one with the same kinds of numbers."""


@models(*(f"pandas.{name}" for name in READERS))
def _read(call: Call, target: Value) -> Value:
    if call.open or call.given("dtype").known or call.given("chunksize").known:
        return Unknown("a table of other dtypes")
    return Table(call)


@models(*(f"pandas.DataFrame.{name}" for name in KEEPS))
def _kept(call: Call, target: Value) -> Value:
    table = target.receiver if isinstance(target, Method) else Unknown("a table")
    in_place = call.given("inplace") == Const(True)
    return Unknown("nothing is given back") if in_place or not isinstance(table, Table) else table


@models("pandas.DataFrame.pct_change")
def _divided(call: Call, target: Value) -> Value:
    """Shares, which are float64 also of whole numbers."""
    table = target.receiver if isinstance(target, Method) else Unknown("a table")
    return replace(table, floats=True) if isinstance(table, Table) else table


@models("pandas.DataFrame", "pandas.Series")
def _put_together(call: Call, target: Value) -> Value:
    return DataFrame()


@models("pandas.concat")
def _joined(call: Call, target: Value) -> Value:
    """A table, where one of what is joined is seen to be one."""
    joined = call.value_of(0) if call.arg(0) is not None else call.given("objs")
    items = joined.items if isinstance(joined, Sequence) else ()
    return DataFrame() if any(isinstance(each, (DataFrame, Table)) for each in items) else Unknown("something joined")


# -- scikit-learn ----------------------------------------------------------------------------------------------------

SCALERS = tuple(
    f"sklearn.preprocessing.{name}"
    for name in (
        "StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "Normalizer", "QuantileTransformer",
        "PowerTransformer",
    )
)  # fmt: skip

DATA_SETS = {
    "load_iris": ("float64", (150, 4)),
    "load_wine": ("float64", (178, 13)),
    "load_diabetes": ("float64", (442, 10)),
    "load_breast_cancer": ("float64", (569, 30)),
    "load_digits": ("float64", (1797, 64)),
    "fetch_california_housing": ("float64", (20640, 8)),
    "fetch_covtype": ("float64", (581012, 54)),
    "fetch_olivetti_faces": ("float32", (400, 4096)),
    "fetch_lfw_people": ("float32", None),
    "fetch_lfw_pairs": ("float32", None),
}
"""Dtype and shape of `data`, from https://scikit-learn.org/stable/datasets.html."""


@models(*(f"sklearn.datasets.{name}" for name in DATA_SETS))
def _data_set(call: Call, target: Value) -> Value:
    dtype, shape = DATA_SETS[(call.name or "").rpartition(".")[2]]
    if call.open or call.given("as_frame").known:
        return Unknown("a data set as a table")
    data = Array("np", dtype, shape, call)
    labels = Unknown("labels")
    if call.given("return_X_y") == Const(True):
        return Sequence((data, labels))
    return Bunch((("data", data), ("target", labels)), open=True)


MADE = {
    "make_blobs": 2, "make_circles": None, "make_classification": 20, "make_moons": None, "make_regression": 100,
}  # fmt: skip
"""What makes examples up, with the features that each has by default; two always, where that is None."""


@models(*(f"sklearn.datasets.{name}" for name in MADE))
def _made(call: Call, target: Value) -> Value:
    """Float64 and labels, a hundred examples if nothing else is said."""
    if call.open or call.given("return_X_y").known:
        return Unknown("made-up data of another kind")
    features = MADE[(call.name or "").rpartition(".")[2]]
    rows, columns = _size(call, 0, "n_samples", 100), _size(call, 1, "n_features", features)
    data = Array("np", "float64", (rows, columns if features is not None else 2), call)
    return Unknown("centers besides") if call.given("coef").known else Sequence((data, Unknown("labels")))


def _size(call: Call, place: int, name: str, default: int | None) -> int | None:
    given = call.arg(place) or call.arg(name)
    return default if given is None else integer(given.value)


@models("sklearn.pipeline.make_pipeline", "sklearn.pipeline.Pipeline")
def _scalers(call: Call, target: Value) -> Value:
    """Scalers behind each other do to the dtype what one of them does."""
    if call.name == "sklearn.pipeline.Pipeline":
        listed = call.value_of(0) if call.arg(0) is not None else call.value_of("steps")
        pairs = listed.items if isinstance(listed, Sequence) else ()
        steps = [pair.items[-1] if isinstance(pair, Sequence) and pair.items else pair for pair in pairs]
    else:
        steps = [call.evaluator.value(arg.value, call.frame) for arg in call.node.args if arg.keyword is None]
    known = all(isinstance(step, Instance) and step.type_name in SCALERS for step in steps)
    return Instance(SCALERS[0], call) if steps and known else Unknown("a pipeline of other steps")


@models(*SCALERS)
def _scaler(call: Call, target: Value) -> Value:
    return Instance(call.name or SCALERS[0], call)


@models(*(f"{scaler}.fit" for scaler in SCALERS))
def _fitted(call: Call, target: Value) -> Value:
    return target.receiver if isinstance(target, Method) else Unknown("a scaler")


@models(*(f"{scaler}.{word}" for scaler in SCALERS for word in ("fit_transform", "transform", "inverse_transform")))
def _scaled(call: Call, target: Value) -> Value:
    """Floats keep their dtype, all other numbers become float64; sparse matrices are not followed.

    Source: `FLOAT_DTYPES` of sklearn.utils.validation, of which the first is taken for what is none of them.
    """
    data = call.value_of(0) if call.arg(0) is not None else call.value_of("X")
    if isinstance(data, Table):
        return Array("np", "float64", None, call)
    if isinstance(data, Cells) and data.dtype is None:
        return Array("np", "float64", data.shape, call)
    if not isinstance(data, Array) or data.library != "np" or data.dtype is None:
        return Unknown("scales something not known")
    if data.dtype.startswith("float"):
        return data
    return replace(data, dtype="float64", explicit=False, cast=None, origin=data.origin or call)
