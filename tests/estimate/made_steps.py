"""Small training steps, put together by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfmemlint.estimate.step import Applied, Graph, Loss, Optimizer, Pass, Tensor, TrainingStep

Size = tuple[int | None, ...]


@dataclass
class Network:
    """A graph that grows layer by layer. Shapes are those of one example."""

    tensors: dict[int, Tensor] = field(default_factory=dict)
    applied: list[Applied] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)

    def given(self, *shape: int | None, dtype: str = "float32") -> int:
        """An input."""
        self.inputs.append(self._tensor(shape, dtype))
        return self.inputs[-1]

    def add(self, kind: str, given: int | Sequence[int], shape: Size, layer: int | None = None, **more: Any) -> int:
        """A layer on some tensors, with its arguments; the fields of `Applied` may be among them. Gives its output."""
        number = len(self.applied)
        fields = {name: more.pop(name) for name in ("trainable", "training", "dtype", "remat", "inner") if name in more}
        taken = (given,) if isinstance(given, int) else tuple(given)
        out = self._tensor(shape, "float32")
        name = f"{kind}_{number}"
        identity = number if layer is None else layer
        self.applied.append(Applied(kind, name, number + 1, identity, taken, (out,), more, **fields))
        return out

    def _tensor(self, shape: Size, dtype: str) -> int:
        self.tensors[len(self.tensors)] = Tensor((None, *shape), dtype)
        return len(self.tensors) - 1

    def graph(self, *outputs: int) -> Graph:
        return Graph(self.tensors, tuple(self.applied), tuple(self.inputs), outputs or (len(self.tensors) - 1,))

    def step(
        self,
        optimizer: Optimizer | str | None = "SGD",
        *,
        batch: int | None = 8,
        losses: tuple[Loss, ...] = (Loss("sparse_categorical_crossentropy", True),),
        frozen: frozenset[int] = frozenset(),
        backward: bool = True,
        **more: Any,
    ) -> TrainingStep:
        """A step that trains the network, or applies it. The data are its inputs."""
        made = Optimizer(optimizer) if isinstance(optimizer, str) else optimizer
        one = Pass(self.graph(), losses, made, backward, frozen)
        data = tuple(self.tensors[each] for each in self.inputs)
        return TrainingStep(1, "model.fit(...)", "a model", (one,), data, batch, **more)


def chain(given: Size, *layers: tuple[str, Size, Mapping[str, Any]], **more: Any) -> TrainingStep:
    """A step of layers one after the other: the kind, the output's shape and the arguments of each."""
    network = Network()
    tensor = network.given(*given)
    for kind, shape, arguments in layers:
        tensor = network.add(kind, tensor, shape, **arguments)
    return network.step(**more)


def perceptron(*widths: int, given: int = 32, **more: Any) -> TrainingStep:
    """Dense layers with relu."""
    layers = [("Dense", (units,), {"units": units, "activation": "relu"}) for units in widths]
    return chain((given,), *layers, **more)
