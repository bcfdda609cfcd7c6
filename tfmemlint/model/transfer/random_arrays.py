"""NumPy: arrays that are drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.transfer.arrays import literal_dtype, literal_shape, numpy_dtype
from tfmemlint.model.transfer.table import models, shape_of
from tfmemlint.model.values import Array, Const, Instance, Length, Sequence, Unknown, Value, integer

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("np.random.rand", "np.random.randn")
def _rand(call: Call, target: Value) -> Value:
    if not call.node.args:
        return Unknown("a Python float")
    sizes: list[int | None] = []
    for arg in call.node.args:
        value = call.evaluator.value(arg.value, call.frame)
        several = shape_of(value) if arg.star else (integer(value),)
        if several is None:
            return Array("np", "float64", None, call)
        sizes += several
    return Array("np", "float64", tuple(sizes), call)


RANDOM = ("normal", "uniform", "random", "random_sample", "standard_normal", "beta", "gamma", "exponential", "poisson",
          "binomial", "lognormal", "laplace", "ranf", "sample", "standard_t", "triangular", "integers",
          "randint")  # fmt: skip


@models(*(f"np.random.{name}" for name in RANDOM), *(f"np.random.Generator.{name}" for name in RANDOM),
        *(f"np.random.RandomState.{name}" for name in (*RANDOM, "rand", "randn")))  # fmt: skip
def _random(call: Call, target: Value) -> Value:
    name = getattr(target, "name", "").rpartition(".")[2]
    if name in ("rand", "randn"):
        return _rand(call, target)
    size = call.value_of("size")
    if call.lacks("size") or size == Const(None):
        return Unknown("a single draw")
    whole = name in ("integers", "randint", "poisson", "binomial")
    dtype, explicit = numpy_dtype(call, "int64" if whole else "float64")
    return Array("np", dtype, shape_of(size), call, explicit)


@models("np.random.choice", "np.random.Generator.choice", "np.random.RandomState.choice")
def _choice(call: Call, target: Value) -> Value:
    """Items of an array of one axis (a Generator's: rows of any), or numbers below one."""
    size, data = call.value_of("size"), call.value_of("a")
    if call.lacks("size") or size == Const(None):
        return Unknown("a single draw")
    number = isinstance(data, Length) or integer(data) is not None
    dtype = "int64" if number else data.dtype if isinstance(data, Array) else literal_dtype(data)
    rest: tuple[int | None, ...] | None = ()
    if getattr(target, "name", "") == "np.random.Generator.choice" and not number:
        shape = data.shape if isinstance(data, Array) else literal_shape(data)
        rest = shape[1:] if shape else None
    drawn = shape_of(size)
    return Array("np", dtype, (*drawn, *rest) if drawn is not None and rest is not None else None, call)


@models("np.random.multivariate_normal", "np.random.Generator.multivariate_normal",
        "np.random.RandomState.multivariate_normal")  # fmt: skip
def _multivariate(call: Call, target: Value) -> Value:
    """Points as long as `mean`: one, or an array of them."""
    mean, size = call.value_of("mean"), call.value_of("size")
    points = () if call.lacks("size") or size == Const(None) else shape_of(size)
    features = mean.shape if isinstance(mean, Array) else None
    if isinstance(mean, Sequence) and not mean.open:
        features = (len(mean.items),)
    shape = (*points, features[0]) if points is not None and features is not None and len(features) == 1 else None
    return Array("np", "float64", shape, call)


@models("np.random.default_rng")
def _rng(call: Call, target: Value) -> Value:
    return Instance("np.random.Generator", call)
