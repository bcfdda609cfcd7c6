"""The facts of one step of training: what is applied to what, how large it is, and what is not known of it.

Shapes have the number of examples first, which is None: the batch is filled in when bytes are asked for, so that the
same facts answer for any batch. What is not known is in `missing`, and what rests on it is left out: bytes are then a
lower bound. Nothing here is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Tensor:
    """What a layer takes or gives: its shape, with None for the number of examples and for lengths that are not known,
    and its dtype. `times` is how many rows it has for each example of the batch (real and generated ones: 2)."""

    shape: tuple[int | None, ...]
    dtype: str = "float32"
    times: int = 1


@dataclass(frozen=True, slots=True)
class Applied:
    """A layer, applied once.

    `kind` is the name of its class in Keras (`Conv2D`), or of a plain operation of the backend (`add`); the engine
    says which it knows. `layer` is equal where one layer is applied again, `line` where it is made (from 1; 0 where no
    line tells), `arguments` what it was made with, as plain numbers, words and tuples by Keras' names, without those
    left out; layers that hold another one have that as `inner`. `remat` is equal in all that one block computes again.
    `lacks` is what of its arguments the program does not say.
    """

    kind: str
    name: str
    line: int
    layer: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    arguments: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    inner: Applied | None = None
    trainable: bool = True
    training: bool | None = None
    dtype: str = "float32"
    remat: int | None = None
    lacks: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Layers in the order in which the program applies them, between tensors that are named by numbers."""

    tensors: Mapping[int, Tensor]
    applied: tuple[Applied, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Optimizer:
    """Its class in Keras (`Adam`) and what it was made with."""

    kind: str
    arguments: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Loss:
    """Its name in small letters with underscores, and whether it takes logits."""

    kind: str
    from_logits: bool = False


@dataclass(frozen=True, slots=True)
class Pass:
    """One way through a graph: forward alone, or with gradients of a loss by which an optimizer changes the weights,
    but not those of the layers in `frozen`. An optimizer of None is one that is not known."""

    graph: Graph
    losses: tuple[Loss, ...] = ()
    optimizer: Optimizer | None = None
    backward: bool = True
    frozen: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Missing:
    """What a program does not say, as a noun ("the batch size"), where, and the option that supplies it ("--batch").
    Of `--set`, `name` is the expression to give a value for.

    `bounds`: whether bytes are a lower bound without it; a missing batch leaves bytes for each example."""

    what: str
    line: int
    option: str | None = None
    bounds: bool = True
    name: str | None = None


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """All that is known of one step of training, or of one batch of `predict`.

    `line` is that of the call or loop (from 1) and `call` its words (`model.fit(...)`), `model` says what is trained
    ("Sequential, 20 layers"). `data` are the tensors of one batch as the program gives them, labels too. `mode` is
    "graph", "eager" or "jit", `precision` the policy. `batch` is None where it is not known.
    """

    line: int
    call: str
    model: str
    passes: tuple[Pass, ...]
    data: tuple[Tensor, ...] = ()
    batch: int | None = None
    precision: str = "float32"
    mode: str = "graph"
    missing: tuple[Missing, ...] = field(default=())

    def layers(self) -> Iterator[Applied]:
        """The layers of all passes, each once, in the order in which they are applied first."""
        seen: set[int] = set()
        for each in self.passes:
            for applied in each.graph.applied:
                if applied.layer not in seen:
                    seen.add(applied.layer)
                    yield applied
