"""The same step with separable convolutions, which have fewer weights and keep one activation more each."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.estimate.step import Applied, Graph, TrainingStep

KIND, EXCHANGED = "Conv2D", "SeparableConv2D"
FEWEST_CHANNELS = 16
"""Of an input: what has fewer, as an image, gives a convolution few weights."""


def exchangeable(step: TrainingStep) -> frozenset[int]:
    """The layers that are convolutions of more than one pixel over many channels, by their numbers."""
    return frozenset(
        applied.layer
        for one in step.passes
        for applied in one.graph.applied
        if applied.kind == KIND and _is_wide(applied, one.graph)
    )


def with_separable(step: TrainingStep, layers: frozenset[int]) -> TrainingStep:
    """The step with separable convolutions in place of these layers."""
    passes = []
    for one in step.passes:
        applied = tuple(
            replace(each, kind=EXCHANGED) if each.layer in layers else each for each in one.graph.applied
        )
        passes.append(replace(one, graph=replace(one.graph, applied=applied)))
    return replace(step, passes=tuple(passes))


def _is_wide(applied: Applied, graph: Graph) -> bool:
    size, groups = applied.arguments.get("kernel_size"), applied.arguments.get("groups", 1)
    sizes = size if isinstance(size, (list, tuple)) else (size,)
    pixels = max((each for each in sizes if isinstance(each, int)), default=1)
    shape = graph.tensors[applied.inputs[0]].shape if applied.inputs else ()
    first = applied.arguments.get("data_format") == "channels_first"
    channels = shape[1 if first else -1] if len(shape) > 1 else None
    return pixels > 1 and groups == 1 and channels is not None and channels >= FEWEST_CHANNELS
