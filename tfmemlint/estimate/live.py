"""What lives together while the ops of a step run one after another, and when that is most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from tfmemlint.estimate.program import BACKWARD, KEPT, OUTPUT, UPDATE, Buffer, Op


@dataclass(slots=True, eq=False)
class Life:
    """Some memory: its bytes, the index of the op that took it, of the last that read it or wrote to it, and the
    buffers that were in it, each with the index of the op that wrote it."""

    bytes: int
    start: int
    end: int
    buffers: list[tuple[int, Buffer]] = field(default_factory=list)
    left: int = 0

    def at(self, index: int) -> Buffer:
        """The buffer that is in the memory when op `index` runs."""
        return next(buffer for start, buffer in reversed(self.buffers) if start <= index)

    def until(self, index: int) -> int:
        """The index of the last op that needs what is in the memory when op `index` runs."""
        return next((start for start, _ in self.buffers if start > index), self.end)


@dataclass(frozen=True, slots=True)
class Walk:
    """What happened: `curve` has the bytes alive while each op runs, its workspace too, and `lives` all memory that
    was taken, in order."""

    ops: Sequence[Op]
    curve: list[int]
    lives: list[Life]

    @property
    def peak(self) -> int:
        """The most bytes that are alive at once."""
        return max(self.curve, default=0)

    @property
    def where(self) -> int:
        """The index of the first op at which so much is alive."""
        return self.curve.index(self.peak) if self.curve else 0

    def alive(self, index: int) -> list[tuple[Buffer, str]]:
        """The buffers that are alive while op `index` runs, with why they are."""
        found = []
        for life in self.lives:
            if life.start <= index <= life.end:
                found.append((life.at(index), self._why(life, index)))
        return found

    def _why(self, life: Life, index: int) -> str:
        why, until = life.at(index).why, life.until(index)
        later = until < len(self.ops) and self.ops[until].part in (BACKWARD, UPDATE)
        return KEPT if why == OUTPUT and later else why


class _Memory:
    """Which buffer is in which memory. Reads are counted for memory, not for buffers: an alias keeps what it shows."""

    def __init__(self, ops: Sequence[Op], outside: Iterable[Buffer], kept: Iterable[Buffer]) -> None:
        self.reads = Counter(chain.from_iterable(op.reads for op in ops))
        self.reads.update(kept)
        self.of: dict[Buffer, Life] = {buffer: Life(0, -1, -1, left=len(ops) + 1) for buffer in outside}
        self.lives: list[Life] = []
        self.bytes = 0

    def write(self, op: Op, index: int) -> None:
        if op.output is None:
            return
        life = self.of[op.alias] if op.alias is not None else self._taken_over(op)
        if life is None:
            life = Life(op.output.bytes, index, index)
            self.lives.append(life)
            self.bytes += life.bytes
        life.left += self.reads[op.output]
        if op.alias is None:
            life.buffers.append((index, op.output))
        self.of[op.output] = life

    def _taken_over(self, op: Op) -> Life | None:
        for each in op.in_place:
            life = self.of[each]
            own = sum(self.of[read] is life for read in op.reads)
            if life.left == own and op.output is not None and life.bytes == op.output.bytes:
                return life
        return None

    def release(self, op: Op, index: int) -> None:
        touched = [self.of[read] for read in op.reads]
        for life in touched:
            life.left -= 1
        if op.output is not None:
            touched.append(self.of[op.output])
        for life in dict.fromkeys(touched) if len(touched) > 1 else touched:
            life.end = index
            if not life.left:
                self.bytes -= life.bytes


def walk(ops: Sequence[Op], outside: Iterable[Buffer] = (), kept: Iterable[Buffer] = ()) -> Walk:
    """Runs the ops in this order. Buffers `outside` are there anyhow, such as the batch, and are not counted; what is
    `kept` outlives the step. Memory is freed as soon as all who read it have run."""
    memory = _Memory(ops, outside, list(kept))
    curve = []
    for index, op in enumerate(ops):
        memory.write(op, index)
        curve.append(memory.bytes + op.workspace)
        memory.release(op, index)
    for life in memory.lives:
        if life.left:
            life.end = len(ops)
    return Walk(ops, curve, memory.lives)
