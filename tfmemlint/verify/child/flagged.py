"""What the flagged code makes, by its own size: an array while it is made, what a statement leaves, the weights of a
layer, the elements of a data set; loaded by `main.py`.
"""

from __future__ import annotations

import builtins
import hashlib
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

HOOKS = ("taken", "layer", "look", "looked", "begin", "end", "anew", "each", "wide", "joined", "clock", "clocked")
SEEN = 0.8
"""Part of the bytes of a message that are enough to be seen, as the judge has it."""

VISITS = 3
"""Times that the program comes to a flagged statement: the first makes what is made once."""

MAKINGS, NOTHING = 6, 64 << 10
"""Times that something is made again, and the bytes that are none."""

CLOCKED = 20
"""Times that a flagged statement is clocked, of which the first one does not count: it traces what it calls."""

FEW_BATCHES = 3
"""Batches from which it is no chance that each has the same rows again."""

LOOKED_AT, MOST_BYTES, SECONDS = 64, 1 << 30, 10.0
"""Elements of an epoch whose order is looked at, the bytes of all, and how long an epoch may take, at the most."""


class Flagged:
    """The hooks that a program calls around what is flagged. `live` gives the bytes of tensors and their peak, `reset`
    starts that peak anew."""

    def __init__(self, live: Callable[[], tuple[int, int] | None], reset: Callable[[], None]) -> None:
        self._arrays: Any = None
        self._live, self._reset = live, reset
        self._taken: int | None = None
        self._layers: list[Any] = []
        self._begun = self._visits = 0
        self._clock, self._clocked = 0.0, list[float]()
        self._left: int | None = None
        self._nodes: int | None = None
        self._makings = Makings()
        self._element: int | None = None
        self._repeating: int | None = None
        self._wide: int | None = None
        self._unmixed: int | None = None
        self._joined: list[int] = []

    def install(self, arrays: Any) -> None:
        """Put the hooks where every module finds them; `arrays` counts those of NumPy, if it is not None."""
        self._arrays = arrays
        do_not_convert = sys.modules["tensorflow"].autograph.experimental.do_not_convert
        for name in HOOKS:
            setattr(builtins, f"tfmemlint_{name}", do_not_convert(getattr(self, name)))

    def taken(self, make: Callable[[], Any], expected: int) -> Any:
        """What `make` gives, with the bytes noted that making it takes. Ends the program where these are what is
        expected."""
        tensors, arrays = self._now()
        self._reset()
        if self._arrays is not None:
            self._arrays.reset()
        made = make()
        if not _of_a_graph(made):
            peak = (self._live() or (0, 0))[1]
            most = self._arrays.peak if self._arrays is not None else 0
            self._taken = max(self._taken or 0, peak - tensors, most - arrays)
            if self._taken >= SEEN * expected:
                raise SystemExit(0)
        return made

    def _now(self) -> tuple[int, int]:
        return (self._live() or (0, 0))[0], self._arrays.live if self._arrays is not None else 0

    def begin(self) -> None:
        """The program comes to the flagged statement."""
        self._begun = self._now()[0] if sys.modules["tensorflow"].executing_eagerly() else _operations()

    def end(self, value: Any = None) -> Any:
        """The flagged statement has run, and gives `value`; the last time counts, at which the program ends. Of what is
        traced it counts what the graph got, the most of all times."""
        if not sys.modules["tensorflow"].executing_eagerly():
            self._nodes = max(self._nodes or 0, _operations() - self._begun)
            return value
        self._left, self._visits = max(0, self._now()[0] - self._begun), self._visits + 1
        if self._visits == VISITS:
            raise SystemExit(0)
        return value

    def clock(self) -> None:
        """The program comes to the flagged statement, whose time is taken."""
        self._clock = time.perf_counter()

    def clocked(self, value: Any = None) -> Any:
        """The flagged statement has run, and gives `value`. Enough times of it end the program."""
        self._clocked.append(time.perf_counter() - self._clock)
        if len(self._clocked) > CLOCKED and threading.current_thread() is threading.main_thread():
            raise SystemExit(0)
        return value

    def anew(self, make: Callable[[], Any]) -> Any:
        """What `make` gives, with what it takes noted each time; the program ends after some times."""
        if not sys.modules["tensorflow"].executing_eagerly():
            return make()
        self._makings.begin(_registered())
        tensors, arrays = self._now()
        self._reset()
        if self._arrays is not None:
            self._arrays.reset()
        started = time.perf_counter()
        made = make()
        seconds = time.perf_counter() - started
        most = self._arrays.peak if self._arrays is not None else 0
        self._makings.end(max((self._live() or (0, 0))[1] - tensors, most - arrays), seconds)
        if self._makings.count == MAKINGS and threading.current_thread() is threading.main_thread():
            raise SystemExit(0)  # in a thread of a pipeline it would be an error of that
        return made

    def each(self, items: Iterable[Any]) -> Iterator[Any]:
        """The items of a loop, with what it takes noted to come to each."""
        left = iter(items)
        while (item := self.anew(lambda: next(left, self))) is not self:
            yield item

    def wide(self, function: Any) -> Any:
        """The flagged function, with the bytes noted of the float64 arrays that it is given. The program ends there:
        what is done with them is known."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            parts = sys.modules["tensorflow"].nest.flatten([args, kwargs])
            wide = {id(part): part.nbytes for part in parts if str(getattr(part, "dtype", "")) == "float64"}
            self._wide = max(self._wide or 0, sum(wide.values()))
            if self._wide:
                raise SystemExit(0)
            return function(*args, **kwargs)

        return noted

    def joined(self, made: Any) -> Any:
        """What parts were joined to, with its bytes noted: each of them was copied."""
        size = getattr(made, "nbytes", None)
        if size is None and hasattr(made, "numpy"):
            size = made.dtype.size * int(made.shape.num_elements() or 0)
        if isinstance(size, int):
            self._joined.append(size)
        return made

    def layer(self, made: Any) -> Any:
        """A layer whose weights are counted in the end."""
        self._layers.append(made)
        return made

    def look(self, value: Any) -> None:
        """Look at two epochs of what is a data set: how large an element is, and whether they are the same, in their
        order and but for it: what a cache keeps may be shuffled and batched behind it."""
        if isinstance(value, (tuple, list)):
            for item in value:
                self.look(item)
        elif isinstance(value, (sys.modules["tensorflow"].data.Dataset, _distributed())):
            first, second = self._digests(value), self._digests(value)
            if first is not None and second is not None:
                same = [one == other and bool(one) for one, other in zip(first, second, strict=True)]
                self._repeating = (self._repeating or 0) + sum(same[:2])
                batches = first[2].total() if same[2] else 0
                self._unmixed = max(self._unmixed or 0, batches if batches >= FEW_BATCHES else 0)

    def looked(self, make: Any, use: Any, _traced: bool) -> None:
        """Look at what a call of the flagged function gives: `use` calls what `make` gives."""
        self.look(use(make()))

    def _digests(self, value: Any) -> tuple[list[bytes], Counter[bytes], Counter[bytes]] | None:
        """A digest of each of the first elements, of each row of all and of the rows of each element in any order, of
        none where they are too many bytes. The epoch is gone through to its end, without which a cache keeps nothing;
        None where that takes too long."""
        found: list[bytes] = []
        rows: Counter[bytes] = Counter()
        batches: Counter[bytes] = Counter()
        left, end = MOST_BYTES, time.monotonic() + SECONDS
        for number, element in enumerate(value):
            if time.monotonic() > end:
                return None
            if left < 0:
                rows.clear()
                batches.clear()
                continue
            parts = [part.numpy() for part in sys.modules["tensorflow"].nest.flatten(element, expand_composites=True)]
            size = sum(part.nbytes if hasattr(part, "nbytes") else len(part) for part in parts)
            left -= size
            inside = sorted(map(_digest, _rows(parts)))
            rows.update(inside)
            batches[b"".join(inside)] += 1
            if number < LOOKED_AT:
                self._element = max(self._element or 0, size)
                found.append(_digest(parts))
        return (found, rows, batches) if left >= 0 else (found, Counter(), Counter())

    def report(self) -> dict[str, Any]:
        """What was noted, under the names that `run/at_flagged.py` explains."""
        counted = [layer.count_params() for layer in self._layers if getattr(layer, "built", False)]
        return {
            "taken": self._taken,
            "left": self._left,
            "parameters": max(counted, default=None),
            "nodes": self._nodes,
            **self._makings.report(),
            "element": self._element,
            "repeating": self._repeating,
            "wide": self._wide,
            "unmixed": self._unmixed,
            "joins": len(self._joined),
            "copied": sum(self._joined),
            "comes_to": max(self._joined, default=0),
            "clocked": statistics.median(self._clocked[1:]) if len(self._clocked) > FEW_BATCHES else None,
        }


def _distributed() -> type:
    """The class of data sets that a strategy gives its replicas, of which there is one here."""
    kind: type = sys.modules["tensorflow"].compat.v2.distribute.DistributedDataset
    return kind


class Makings:
    """What is made again and again: how much memory that takes each time, and the Python functions kept of it."""

    def __init__(self) -> None:
        self.count = 0
        self._costly: list[int] = []
        self._registered: list[int] = []
        self._seconds: list[float] = []

    def begin(self, registered: int) -> None:
        """It is made, while TensorFlow keeps so many Python functions."""
        self._registered.append(registered)

    def end(self, taken: int, seconds: float) -> None:
        """It has been made, and took so many bytes and so long."""
        self.count += 1
        self._seconds.append(seconds)
        if taken >= NOTHING:
            self._costly.append(taken)

    def report(self) -> dict[str, Any]:
        """How often it was made and took memory, the bytes of the least such time (at others something else may have
        gone on beside it), how long it takes, and how many functions are kept of it; those of the first time not
        counted, which are made once."""
        kept = self._registered[-1] - self._registered[1] if self.count > 1 else 0
        found = {"makings": self.count, "made_anew": len(self._costly), "anew_bytes": min(self._costly, default=0)}
        each = statistics.median(self._seconds[1:]) if self.count > 1 else 0.0
        return {**found, "functions": max(0, kept), "making_seconds": each}


def _operations() -> int:
    """How many operations the graph has that is built."""
    return int(sys.modules["tensorflow"].compat.v1.get_default_graph().version)


def _registered() -> int:
    """How many Python functions TensorFlow keeps that graphs or eager code call."""
    module = sys.modules.get("tensorflow.python.ops.script_ops")
    return int(module._py_funcs.size()) if module is not None else 0


def _of_a_graph(made: Any) -> bool:
    """Whether something is no data yet, but a place in a graph or in a model; a data set has what it was made of."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is not None and isinstance(made, tensorflow.data.Dataset):
        return not tensorflow.executing_eagerly()
    return not hasattr(made, "numpy") and type(made).__module__.partition(".")[0] != "numpy"


def _rows(parts: list[Any]) -> Iterable[list[Any]]:
    """The rows of a batch; an element that is none as the one row."""
    counts = {part.shape[0] if getattr(part, "ndim", 0) else None for part in parts}
    if len(counts) > 1 or None in counts:
        return [parts]
    return ([part[row] for part in parts] for row in range(counts.pop() or 0))


def _digest(parts: list[Any]) -> bytes:
    return hashlib.blake2b(b"".join(map(_content, parts))).digest()


def _content(part: Any) -> bytes:
    if isinstance(part, bytes):
        return part
    if not hasattr(part, "tobytes"):  # an item of an array of objects
        return repr(part).encode()
    return repr(part.tolist()).encode() if part.dtype == object else bytes(part.tobytes())
