"""Uses what a program makes as its training would: a data set is iterated, an array becomes a tensor; loaded by
`main.py`."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

substitutes: Any = importlib.import_module("tfmemlint_substitutes")

HOOKS = ("consume", "given")
ROUNDS_OF_DATA, SECONDS_OF_DATA, MOST_SECONDS_OF_DATA = 10_000, 1.0, 4.0
"""The most elements of a data set, and the processor time after which no more than so many are taken as a batch that is
made up has rows, and none."""
DATA_SETS = 100
"""Of how many it is kept what they hold."""


class Iterated:
    """The hooks of one run. `mark` is called after each element, `live` gives the bytes of tensors and their peak; what
    is replaced is noted with `instead`, the substitutes of the run."""

    def __init__(self, mark: Any, live: Callable[[], tuple[int, int] | None], instead: Any) -> None:
        self._mark, self._live = mark, live
        self._note, self._rounds = instead.note, instead.rounds
        self._held: list[int] = []
        self._rounds["held_by_data_sets"] = self._held
        self._kept: list[Any] = []

    def install(self) -> None:
        """Put the hooks where every module finds them."""
        for name in HOOKS:
            setattr(builtins, f"tfmemlint_{name}", getattr(self, name))

    def consume(self, value: Any) -> Any:
        """Iterate what is a data set, as a training loop would; anything else is left alone."""
        if isinstance(value, (tuple, list)):
            for item in value:
                self.consume(item)
        elif isinstance(value, sys.modules["tensorflow"].data.Dataset):
            self._note("the data set is iterated in place of training")
            parts = sys.modules["tensorflow"].nest.flatten(value.element_spec)
            self._rounds["strings"] |= any(getattr(part, "dtype", None) == "string" for part in parts)
            self._iterate(value)
        return value

    def _iterate(self, value: Any) -> None:
        began, start, most = time.process_time(), self._bytes(), 0
        for number, _ in enumerate(self._elements(value), 1):
            self._mark()
            most = max(most, self._bytes() - start)
            longest = SECONDS_OF_DATA if number >= substitutes.ROWS else MOST_SECONDS_OF_DATA
            if number == ROUNDS_OF_DATA or time.process_time() - began > longest:
                self._note(f"the data set was left after {number} elements")
                if not self._rounds["rounds"]:
                    self._rounds.update(rounds=number, rounds_cut=True)
                break
        if len(self._held) < DATA_SETS:
            self._held.append(most)

    def _bytes(self) -> int:
        return (self._live() or (0, 0))[0]

    def _elements(self, value: Any) -> Iterator[Any]:
        """The elements of a data set; in a program for version 1 those that a session fetches."""
        tensorflow = sys.modules["tensorflow"]
        if tensorflow.executing_eagerly():
            yield from value
            return
        version_1 = tensorflow.compat.v1
        iterator = version_1.data.make_initializable_iterator(value)
        fetched = iterator.get_next()
        with version_1.Session() as session:
            session.run(iterator.initializer)
            while True:
                try:
                    yield session.run(fetched)
                except tensorflow.errors.OutOfRangeError:
                    return

    def given(self, value: Any) -> Any:
        """Do with a value what training does with it: iterate a data set, give arrays to TensorFlow, which copies
        them. The tensors are kept to the end."""
        numpy, tensorflow = importlib.import_module("numpy"), sys.modules["tensorflow"]
        if isinstance(value, (tuple, list)):
            for item in value:
                self.given(item)
        elif isinstance(value, numpy.ndarray) and value.dtype != object:
            self._kept.append(tensorflow.convert_to_tensor(value))
        elif tensorflow.is_tensor(value) and not tensorflow.executing_eagerly() and substitutes.runs_now():
            self._fetch(value)
        else:
            self.consume(value)
        return value

    def _fetch(self, value: Any) -> None:
        """Have a session compute a tensor of the graph, as far as that needs nothing that is fed."""
        errors, version_1 = sys.modules["tensorflow"].errors, sys.modules["tensorflow"].compat.v1
        with version_1.Session(graph=value.graph) as session, contextlib.suppress(errors.InvalidArgumentError):
            session.run(version_1.global_variables_initializer())
            self._kept.append(session.run(value))
