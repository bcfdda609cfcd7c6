"""What was applied to what, in order: the layers of a step with the tensors that each takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tfmemlint.estimate.facts.values import Object, Origin, Traced
from tfmemlint.estimate.step import Loss
from tfmemlint.model.values import Array, Shape, Value


@dataclass(slots=True, eq=False)
class Node:
    """One application of a layer, a model (with what is `inside` of it) or a plain operation (`op` is None)."""

    kind: str
    line: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    op: Object | None = None
    training: bool | None = None
    inside: list[Node] | None = None
    loss: Loss | None = None
    arguments: dict[str, Value] = field(default_factory=dict)
    why: str = ""
    """What keeps its outputs from being known."""
    lacks: tuple[Origin, ...] = ()
    """What of the program is not known that its outputs rest on."""
    remat: int | None = None
    again: Callable[[dict[int, Traced]], Value | None] | None = None
    """What a plain operation gives of other tensors, by the numbers of those that it was given."""

    def flat(self) -> Iterator[Node]:
        """The applications of layers and operations in it, in order."""
        if self.inside is None:
            yield self
        else:
            for each in self.inside:
                yield from each.flat()


class Record:
    """All tensors by their numbers, the node that makes each, and the nodes of the call that is being followed."""

    def __init__(self) -> None:
        self.tensors: list[Traced] = []
        self.made: dict[int, Node] = {}
        self.now: list[Node] = []
        self.lacks: dict[int, tuple[Origin, ...]] = {}
        """What sizes of symbolic inputs rest on and is not known, by the numbers of the tensors."""

    def tensor(self, shape: Shape | None, dtype: str | None = "float32", library: str = "keras") -> Traced:
        """A tensor that was not there before."""
        made = Traced(library, dtype, shape, number=len(self.tensors))
        self.tensors.append(made)
        return made

    def number(self, array: Array) -> Traced:
        """The tensor of an array; one of its own for an array that is not yet one."""
        return array if isinstance(array, Traced) else self.tensor(array.shape, array.dtype, array.library)

    def add(self, node: Node) -> None:
        """Note what was applied."""
        self.now.append(node)
        for each in node.outputs:
            self.made[each] = node

    def order(self, inputs: Iterable[int], outputs: Iterable[int]) -> list[Node] | None:
        """The nodes between tensors in the order in which a functional model runs them: those farthest from the
        outputs first, as Keras sorts them (`keras.src.ops.function.map_graph`). None where an input is missing."""
        found = self._between(frozenset(inputs), list(outputs))
        if found is None:
            return None
        depths: dict[int, int] = {}
        of_op: dict[int, int] = {}
        places: dict[int, Node] = {}
        given = frozenset(inputs)
        for node in reversed(found):
            key = id(node)
            places.setdefault(key, node)
            depth = depths.setdefault(key, 0)
            if node.op is not None:
                depth = depths[key] = max(depth, of_op.get(node.op.serial, 0))
                of_op[node.op.serial] = depth
            for number in node.inputs:
                before = self.made.get(number) if number not in given else None
                if before is not None:
                    depths[id(before)] = max(depth + 1, depths.get(id(before), 0))
                    places.setdefault(id(before), before)
        return sorted((places[key] for key in depths), key=lambda node: -depths[id(node)])

    def _between(self, given: frozenset[int], outputs: list[int]) -> list[Node] | None:
        """The nodes that outputs rest on, each after those that it rests on; None where one rests on no input."""
        found: list[Node] = []
        seen: set[int] = set()
        waiting: list[tuple[int, bool]] = [(number, False) for number in reversed(outputs)]
        while waiting:
            number, done = waiting.pop()
            node = self.made.get(number)
            if number in given:
                continue
            if node is None and self.tensors[number].library != "keras":
                continue  # a constant
            if node is None:
                return None
            if done:
                found.append(node)
            elif id(node) not in seen:
                seen.add(id(node))
                waiting.append((number, True))
                waiting += [(each, False) for each in reversed(node.inputs)]
        return found
