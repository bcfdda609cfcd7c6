"""tf.data pipelines: what they are made of and the steps applied since."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.model.values.alternatives import one_of
from tfmemlint.model.values.callables import method_of
from tfmemlint.model.values.value import Composite, Unknown, Value, agreed, hashed_once

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

MOST_STEPS = 64
"""Steps of a pipeline that are remembered."""

PIPELINE_WEIGHT = 64
"""What a pipeline made of others adds to their weights: rules go through it step by step."""

UNSEEN = Unknown("element")
"""The element of a pipeline of which none is seen."""


@dataclass(frozen=True, slots=True)
class Step:
    """One method applied to a dataset: the last part of its name and the call (None where it came by other ways)."""

    name: str
    call: Call | None


@hashed_once
@dataclass(frozen=True, slots=True)
class Dataset(Composite):
    """A tf.data pipeline: where it comes from, the steps applied since, and what one element is.

    `source` is the canonical name of the constructor, or None when the beginning is not known (a parameter that is
    annotated or used as a dataset): then absence of a step proves nothing.
    """

    source: str | None
    call: Call | None = None
    steps: tuple[Step, ...] = ()
    element: Value = UNSEEN
    count: int | None = None
    parents: tuple[Value, ...] = ()

    def __post_init__(self) -> None:
        pipelines = PIPELINE_WEIGHT + sum(parent.weight for parent in self.parents) if self.parents else 1
        object.__setattr__(self, "_weight", pipelines + self.element.weight)

    def shared(self, others: Iterable[Dataset]) -> Value:
        """A pipeline whose beginning is not known: of its steps the last ones that all have."""
        pipelines = (self, *others)
        last: list[Step] = []
        for steps in zip(*(reversed(each.steps) for each in pipelines), strict=False):
            if agreed(steps) is None:
                break
            last.append(steps[0])
        return Dataset(None, None, tuple(reversed(last)), one_of(each.element for each in pipelines))

    def attribute(self, name: str) -> Value:
        return self.element if name == "element_spec" else method_of(self, "tf.data.Dataset", name)

    def iterated(self) -> Value:
        return self.element

    def binary(self, name: str, other: Value) -> Value:
        if name == "Add" and isinstance(other, Dataset):
            return Dataset("tf.data.Dataset.concatenate", None, (), self.element, None, (self, other))
        return Value.binary(self, name, other)

    def with_step(self, step: Step) -> Dataset:
        """The pipeline after one step more. Of a very long one only the last steps are kept: its beginning is not
        known any more."""
        if len(self.steps) < MOST_STEPS:
            return replace(self, steps=(*self.steps, step))
        return replace(self, source=None, call=None, parents=(), steps=(*self.steps[-MOST_STEPS // 2 :], step))

    def names(self) -> tuple[str, ...]:
        """The names of the steps, in order."""
        return tuple(step.name for step in self.steps)
