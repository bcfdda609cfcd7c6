"""One step as a list of ops between buffers: what each reads and writes, whose memory it may take over.

The list is in the order of the program. An executor that launches what is ready without waiting for it, as on a GPU,
runs ops in another one, which `breadth_first` gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tfmemlint.estimate.step import Applied

FORWARD, LOSS, BACKWARD, UPDATE = "forward", "loss", "backward", "update"
"""The parts of a step."""
OUTPUT, MASK, GRADIENT, OPTIMIZER, INPUT = "output", "mask", "gradient", "optimizer", "input"
"""Why a buffer is there. What a forward op made and a backward op reads is `KEPT`."""
KEPT = "kept for backward"
_WHY = {FORWARD: OUTPUT, UPDATE: OPTIMIZER}
"""Why the outputs of most ops of a part are there; of the other parts they are gradients."""


@dataclass(slots=True, eq=False)
class Buffer:
    """What one op writes: its bytes, the layer that it belongs to (None for the loss), and why it is there."""

    bytes: int
    owner: Applied | None
    why: str


@dataclass(slots=True, eq=False)
class Op:
    """One op. It writes `output` unless that is None, either into the memory of the first of `in_place` that nobody
    else reads and that is as large, or into new memory; `alias` is a buffer whose memory the output is. `workspace`
    bytes are taken while it runs. `after` is an op that must have run although nothing of it is read."""

    name: str
    part: str
    owner: Applied | None
    reads: tuple[Buffer, ...]
    output: Buffer | None = None
    in_place: tuple[Buffer, ...] = ()
    alias: Buffer | None = None
    workspace: int = 0
    after: Op | None = None


class Program:
    """The ops of a step as they are written down. `part` and `owner` are those of the next ops; where `reuses` is
    False, as without a graph, no op takes over the memory of another."""

    def __init__(self, reuses: bool = True) -> None:
        self.ops: list[Op] = []
        self.part = FORWARD
        self.owner: Applied | None = None
        self.reuses = reuses

    def op(
        self,
        name: str,
        reads: Iterable[Buffer],
        size: int,
        *,
        in_place: Iterable[Buffer] = (),
        workspace: int = 0,
        why: str | None = None,
        early: bool = False,
    ) -> Buffer:
        """Writes down an op that gives `size` bytes. One that reads nothing waits for the op before it, unless it is
        `early`: then it may run when the step begins."""
        buffer = Buffer(size, self.owner, why or self._why())
        taken = tuple(in_place) if self.reuses else ()
        self._add(Op(name, self.part, self.owner, tuple(reads), buffer, taken, None, workspace), early)
        return buffer

    def alias(self, name: str, of: Buffer) -> Buffer:
        """Writes down an op whose output is the memory of its input, such as a reshape."""
        buffer = Buffer(of.bytes, self.owner, of.why)
        self._add(Op(name, self.part, self.owner, (of,), buffer, alias=of), False)
        return buffer

    def sink(self, name: str, reads: Iterable[Buffer], workspace: int = 0) -> None:
        """Writes down an op that gives nothing that has a size: an assignment, a small sum."""
        self._add(Op(name, self.part, self.owner, tuple(reads), workspace=workspace), False)

    def _add(self, op: Op, early: bool) -> None:
        if not op.reads and not early and self.ops:
            op.after = self.ops[-1]
        self.ops.append(op)

    def _why(self) -> str:
        return _WHY.get(self.part, GRADIENT)


def breadth_first(ops: Sequence[Op]) -> list[Op]:
    """The ops in the order in which an executor runs them that starts each as soon as what it reads is there: those
    that became ready first go first."""
    maker = {op.output: op for op in ops if op.output is not None}
    waits: dict[Op, int] = {}
    then: dict[Op, list[Op]] = {op: [] for op in ops}
    for op in ops:
        needed = {maker[read] for read in op.reads if read in maker}
        if not needed and op.after is not None:
            needed = {op.after}
        waits[op] = len(needed)
        for each in needed:
            then[each].append(op)
    ready = deque(op for op in ops if not waits[op])
    order = []
    while ready:
        op = ready.popleft()
        order.append(op)
        for each in then[op]:
            waits[each] -= 1
            if not waits[each]:
                ready.append(each)
    return order
