"""All kinds of layers that the engine knows, by the names of their classes and operations in Keras."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.estimate.layers import (
    activations,
    attention,
    embedding,
    linear,
    merging,
    normalization,
    operations,
    pooling,
    preprocessing,
    random,
    recurrent,
    shapes,
    wrapping,
)
from tfmemlint.estimate.layers.kind import Kind

_SUBJECTS = (
    operations,
    activations,
    attention,
    embedding,
    linear,
    merging,
    normalization,
    pooling,
    preprocessing,
    random,
    recurrent,
    shapes,
)
_PLAIN = {name: kind for subject in _SUBJECTS for name, kind in subject.KINDS.items()}
KINDS: Mapping[str, Kind] = {**_PLAIN, **wrapping.kinds(_PLAIN)}
