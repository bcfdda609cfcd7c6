"""The distributions of `tensorflow_probability` that models draw from, by the operations of TensorFlow, where it is not
installed; loaded by `main.py`. They have the dtypes and shapes of the real ones, and compute the same."""

from __future__ import annotations

import importlib
import math
import sys
from typing import Any

NAME = "tensorflow_probability"
WORDS = "the usual distributions by operations of TensorFlow stand for those that it has"
HALF_LOG = 0.5 * math.log(2 * math.pi)


def _tf() -> Any:
    return sys.modules["tensorflow"]


def _tensor(value: Any) -> Any:
    tensor = _tf().convert_to_tensor(value)
    return tensor if tensor.dtype.is_floating else _tf().cast(tensor, "float32")


class Distribution:
    """What can be drawn from, with what a draw tells about."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def _draws(self, shape: Any) -> Any:
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        raise NotImplementedError

    def sample(self, sample_shape: Any = (), seed: Any = None, name: str = "") -> Any:
        count = [sample_shape] if isinstance(sample_shape, int) else sample_shape
        return self._draws(_tf().cast(_tf().convert_to_tensor(list(count), "int32"), "int32"))

    def prob(self, value: Any) -> Any:
        return _tf().exp(self.log_prob(value))

    def kl_divergence(self, other: Any) -> Any:
        return kl_divergence(self, other)


class Normal(Distribution):
    """Of numbers that do not depend on each other."""

    def __init__(self, loc: Any, scale: Any, *_: Any, **__: Any) -> None:
        self.loc, self.scale = _tensor(loc), _tensor(scale)

    def _draws(self, shape: Any) -> Any:
        whole = _tf().concat([shape, _tf().broadcast_dynamic_shape(_tf().shape(self.loc), _tf().shape(self.scale))], 0)
        return self.loc + self.scale * _tf().random.normal(whole, dtype=self.loc.dtype)

    def log_prob(self, value: Any) -> Any:
        return -0.5 * _tf().square((value - self.loc) / self.scale) - _tf().math.log(self.scale) - HALF_LOG

    def mean(self) -> Any:
        return self.loc + _tf().zeros_like(self.scale)

    mode = mean

    def stddev(self) -> Any:
        return self.scale + _tf().zeros_like(self.loc)

    def variance(self) -> Any:
        return _tf().square(self.stddev())

    def entropy(self) -> Any:
        return 0.5 + HALF_LOG + _tf().math.log(self.stddev())

    def _divergence(self, other: Any) -> Any:
        ratio = _tf().square(self.scale / other.scale)
        shift = _tf().square((self.loc - other.loc) / other.scale)
        return 0.5 * (ratio + shift - 1.0 - _tf().math.log(ratio))


class MultivariateNormalDiag(Normal):
    """Of rows of such numbers."""

    def __init__(self, loc: Any = None, scale_diag: Any = None, *_: Any, **__: Any) -> None:
        given = _tensor(loc if loc is not None else scale_diag)
        super().__init__(_tf().zeros_like(given) if loc is None else given, 1.0 if scale_diag is None else scale_diag)
        self.scale = self.scale + _tf().zeros_like(self.loc)

    def log_prob(self, value: Any) -> Any:
        return _tf().reduce_sum(super().log_prob(value), axis=-1)

    def entropy(self) -> Any:
        return _tf().reduce_sum(super().entropy(), axis=-1)

    def _divergence(self, other: Any) -> Any:
        return _tf().reduce_sum(super()._divergence(other), axis=-1)


class Categorical(Distribution):
    """Of numbers of classes."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = "int32", *_: Any, **__: Any) -> None:
        self.logits = _tensor(logits) if logits is not None else _tf().math.log(_tensor(probs))
        self.dtype = dtype

    def _draws(self, shape: Any) -> Any:
        rows = _tf().reshape(self.logits, [-1, _tf().shape(self.logits)[-1]])
        found = _tf().random.categorical(rows, _tf().reduce_prod(shape), dtype="int64")
        whole = _tf().concat([shape, _tf().shape(self.logits)[:-1]], 0)
        return _tf().cast(_tf().reshape(_tf().transpose(found), whole), self.dtype)

    def log_prob(self, value: Any) -> Any:
        labels = _tf().cast(value, "int32")
        shape = _tf().concat([_tf().shape(labels), _tf().shape(self.logits)[-1:]], 0)
        logits = _tf().broadcast_to(self.logits, shape)
        return -_tf().nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

    def mode(self) -> Any:
        return _tf().cast(_tf().argmax(self.logits, axis=-1), self.dtype)

    def entropy(self) -> Any:
        return _tf().nn.softmax_cross_entropy_with_logits(labels=_tf().nn.softmax(self.logits), logits=self.logits)

    def _divergence(self, other: Any) -> Any:
        one, two = (_tf().nn.log_softmax(each.logits) for each in (self, other))
        return _tf().reduce_sum(_tf().exp(one) * (one - two), axis=-1)


class Bernoulli(Distribution):
    """Of zeros and ones."""

    def __init__(self, logits: Any = None, probs: Any = None, dtype: Any = "int32", *_: Any, **__: Any) -> None:
        given = _tensor(logits if logits is not None else probs)
        self.logits = given if logits is not None else _tf().math.log(given) - _tf().math.log1p(-given)
        self.dtype = dtype

    def mean(self) -> Any:
        return _tf().sigmoid(self.logits)

    def _draws(self, shape: Any) -> Any:
        whole = _tf().concat([shape, _tf().shape(self.logits)], 0)
        return _tf().cast(_tf().random.uniform(whole, dtype=self.logits.dtype) < self.mean(), self.dtype)

    def log_prob(self, value: Any) -> Any:
        labels, logits = _tf().cast(value, self.logits.dtype), self.logits
        zeros = _tf().zeros_like(labels + logits)
        return -_tf().nn.sigmoid_cross_entropy_with_logits(labels=labels + zeros, logits=logits + zeros)


class Uniform(Distribution):
    """Of numbers between two."""

    def __init__(self, low: Any = 0.0, high: Any = 1.0, *_: Any, **__: Any) -> None:
        self.low, self.high = _tensor(low), _tensor(high)

    def _draws(self, shape: Any) -> Any:
        whole = _tf().concat([shape, _tf().broadcast_dynamic_shape(_tf().shape(self.low), _tf().shape(self.high))], 0)
        return self.low + (self.high - self.low) * _tf().random.uniform(whole, dtype=self.low.dtype)

    def log_prob(self, value: Any) -> Any:
        return -_tf().math.log(self.high - self.low) + _tf().zeros_like(value)


class Independent(Distribution):
    """Another one whose last axes are one draw."""

    def __init__(self, distribution: Any, reinterpreted_batch_ndims: int = 1, *_: Any, **__: Any) -> None:
        self.distribution, self._axes = distribution, list(range(-(reinterpreted_batch_ndims or 1), 0))

    def _draws(self, shape: Any) -> Any:
        return self.distribution._draws(shape)

    def log_prob(self, value: Any) -> Any:
        return _tf().reduce_sum(self.distribution.log_prob(value), axis=self._axes)

    def entropy(self) -> Any:
        return _tf().reduce_sum(self.distribution.entropy(), axis=self._axes)

    def mean(self) -> Any:
        return self.distribution.mean()

    def _divergence(self, other: Any) -> Any:
        return _tf().reduce_sum(self.distribution._divergence(other.distribution), axis=self._axes)


def kl_divergence(distribution_a: Any, distribution_b: Any, *_: Any, **__: Any) -> Any:
    """How far one distribution is from another of its kind."""
    return distribution_a._divergence(distribution_b)


KINDS = (Distribution, Normal, MultivariateNormalDiag, Categorical, Bernoulli, Uniform, Independent)


def fills() -> dict[str, tuple[Any, str]]:
    """What fills its modules, and what is said of it."""

    def fill(module: Any) -> None:
        vars(module).update({kind.__name__: kind for kind in KINDS}, kl_divergence=kl_divergence)

    def whole(module: Any) -> None:
        module.distributions = importlib.import_module(f"{NAME}.distributions")

    return {NAME: (whole, WORDS), f"{NAME}.distributions": (fill, WORDS)}
