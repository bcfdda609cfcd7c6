"""Stands in for what a slice of a program cannot have or should not wait for; loaded by `main.py`.

Inputs that are not there are replaced by arrays of their shape and dtype, training is cut to a few steps, loops to a
few rounds. Each replacement that takes effect is noted, so that the verdict can list it.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import inspect
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

fit_rows: Any = importlib.import_module("tfmemlint_fit_rows")

HOOKS = ("some", "enter", "more", "initialise", "train")
STEPS, EPOCHS, ROWS, WORDS = 20, 2, 32, 10
STEPS_OF_TESTS, STEPS_BEFORE = 5, 2
STEPS_AT_LEAST, PART_OF_TRAINING = 3, 0.4
"""Part of the processor time after which a training ends, after so many steps at the least."""
SECONDS, WORK, ROUNDS_AT_LEAST = 60.0, 10.0, 8
"""Seconds, and seconds of processor time, after which loops end, after so many rounds at the least, and training takes
single steps."""

ROW_VALUES = 1 << 20
"""Numbers of a batch that is made up for a model, as many rows as fit in up to `ROWS`: larger ones take long."""


class Substitutes:
    """The hooks of one run; `notes` says what was replaced, each thing once. `data` makes up arrays and data sets."""

    def __init__(self, mark: Any, data: Any, patient: float = SECONDS, work: float = WORK) -> None:
        self.notes: dict[str, None] = {}
        self.rounds: dict[str, Any] = {"rounds": 0, "rounds_cut": False, "rounds_in_all": None}
        """What is known of the flagged place and the loop around it, as the report has it."""
        self.rounds.update(sizes_made_up=False, strings=False, steps_in_time=0)
        self.step: Any = None
        """The training step that is to be measured, if any."""
        self._mark, self.data = mark, data
        self._began, self._patient, self._work = time.monotonic(), patient, work
        self._tired = time.process_time() + work
        self._rounds: dict[str, int] = {}
        self._expected = self._marked = False
        """Whether there is a loop whose rounds are looked at, and whether the program has come to it: loops inside it
        may be short, and a training before it gives no more than weights and what an optimizer keeps."""

    def note(self, text: str) -> None:
        """Say that something was replaced."""
        self.notes[text] = None

    def made_up(self, text: str) -> None:
        """Say that something was replaced by what has a size of its own."""
        self.note(text)
        self.rounds["sizes_made_up"] = True

    def install(self, rename: Any) -> None:
        """Put the hooks where every module finds them and patch what trains; `rename` is what gives Keras the names
        that it had before. Imports Keras."""
        self.data.install(self.note)
        for name in HOOKS:
            setattr(builtins, f"tfmemlint_{name}", getattr(self, name))
        keras = [importlib.import_module("keras")]
        if "tf_keras" in sys.modules or os.environ.get("TF_USE_LEGACY_KERAS") == "1":
            keras.append(importlib.import_module("tf_keras"))
        rename(keras[0], self.note)
        for model in {id(module.Model): module.Model for module in keras}.values():
            self._patch_model(model)

    # -- hooks that the programs call --------------------------------------------------------------------------------

    def some(self, items: Any, limit: int, line: int | str, marked: bool = False) -> Any:
        """`items`, cut after `limit` rounds; what a traced function iterates is left as it is."""
        if not runs_now():
            return items
        return self._cut(items, limit, line, marked)

    def _cut(self, items: Iterable[Any], limit: int, line: int | str, marked: bool) -> Iterator[Any]:
        if marked:
            again = self.rounds["rounds"] > 0
            self.rounds["rounds_in_all"] = None if again else _length(items)
        least = ROUNDS_AT_LEAST if marked or not self._marked else 1
        self._marked |= marked
        rounds = iter(items)
        for number in range(limit):
            if number >= least and self._takes_long():
                self._left(number, line, marked)
                return
            try:
                item = next(rounds)
            except StopIteration:
                return
            yield item
            if marked:
                self._count()
        if next(rounds, self) is not self:
            self._left(limit, line, marked)

    def enter(self, line: int | str) -> None:
        """The program comes to a `while` loop."""
        self._rounds.pop(str(line), None)

    def more(self, limit: int, line: int | str, marked: bool = False) -> bool:
        """Whether a `while` loop may go on."""
        if not runs_now():
            return True
        rounds = self._rounds[str(line)] = self._rounds.get(str(line), 0) + 1
        self._marked |= marked
        if marked:
            self.rounds["rounds_in_all"] = None
        if marked and rounds > 1:
            self._count()
        if rounds > ROUNDS_AT_LEAST and self._takes_long():
            limit = min(limit, rounds - 1)
        if rounds > limit:
            self._left(limit, line, marked)
        return rounds <= limit

    def _takes_long(self) -> bool:
        """Whether the program has run for so long that what follows is done in few steps."""
        return time.process_time() > self._tired or time.monotonic() - self._began > self._patient

    def _count(self) -> None:
        self.rounds["rounds"] += 1
        self._mark()

    def expect_loop(self, source: str) -> None:
        """Be ready for the loop around the flagged place, where the program has one: it may never be come to."""
        self._expected = "marked=True" in source
        self.rounds["rounds_in_all"] = 0 if self._expected else None

    def _left(self, limit: int, line: int | str, marked: bool) -> None:
        self.rounds["rounds_cut"] |= marked
        self.note(f"the loop at line {line} was cut after {limit} rounds")

    def train(self, model: Any, steps: int = 2) -> None:
        """Train a model on made-up data of its own shapes, for two steps: the second one has the optimizer's slots.
        Raises ValueError for a model that does not say its shapes."""
        first = next(iter(model.layers), None)
        if not getattr(model, "inputs", None) and type(first).__name__ == "Embedding":
            model.build((None, getattr(first, "input_length", None) or WORDS))
        shapes = [tuple(part.shape) for part in getattr(model, "inputs", None) or ()]
        if not shapes or any(None in shape[1:] for shape in shapes):
            raise ValueError("not all shapes of the model's inputs are known, so that no data can be made up for it")
        tensorflow = sys.modules["tensorflow"]
        rows = min(ROWS, max(2, ROW_VALUES // max(math.prod(shape[1:]) for shape in shapes)))

        def batch(part: Any) -> Any:
            dtype, shape = getattr(part.dtype, "name", part.dtype), tuple(part.shape)
            return self.data.tensor(dtype, (shape[0] or rows, *shape[1:]))

        known = getattr(model, "optimizer", None)
        optimizer = type(known).from_config(known.get_config()) if known is not None else "adam"
        model.compile(optimizer, "mse", run_eagerly=bool(model.run_eagerly))
        x = [batch(part) for part in model.inputs]
        given = x[0] if len(x) == 1 else x
        y = tensorflow.nest.map_structure(tensorflow.zeros_like, model(given))
        for _ in range(steps):
            model.train_on_batch(given, y)
        self.note(f"the model is trained for {steps} steps of {rows} made-up rows, by mean squared error")

    def initialise(self) -> None:
        """Run a first operation, at which TensorFlow applies its device settings."""
        sys.modules["tensorflow"].zeros([1])

    # -- patches -----------------------------------------------------------------------------------------------------

    def _patch_model(self, model: Any) -> None:
        most = {"epochs": EPOCHS, "steps_per_epoch": STEPS, "validation_steps": STEPS_OF_TESTS}
        model.fit = self._limited(model.fit, most)
        model.evaluate = self._limited(model.evaluate, {"steps": STEPS_OF_TESTS})
        model.predict = self._limited(model.predict, {"steps": STEPS}, arrays_too=False)

    def _limited(self, method: Any, most: dict[str, int], arrays_too: bool = True) -> Any:
        """The method with at most these numbers of steps. What is predicted of an array has to keep its length."""
        signature = inspect.signature(method)
        takes_all = any(each.kind is each.VAR_KEYWORD for each in signature.parameters.values())

        @functools.wraps(method)
        def limited(*args: Any, **kwargs: Any) -> Any:
            for name in () if takes_all else kwargs.keys() - signature.parameters.keys():
                del kwargs[name]
                self.note(f"{method.__name__}() was called without {name}, which it does not take in this Keras")
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            self._even(given)
            count, size = fit_rows.count(given.get("x")), given.get("batch_size") or 32
            given["verbose"] = 0
            if isinstance(given.get("callbacks", ""), (list, type(None))):
                given["callbacks"] = [*(given["callbacks"] or ()), self._patience()]
            if count is not None and "batch_size" in signature.parameters:
                given["batch_size"] = size  # Keras would take all rows in as many steps as it is told
            if count is not None and not arrays_too:
                return method(*bound.args, **bound.kwargs)
            for name, limit in dict.fromkeys(most, 1).items() if self._takes_long() else most.items():
                if name == "validation_steps" and given.get("validation_data") is None:
                    continue
                value = given.get(name)
                steps_there = -(-count // size) if count is not None else None
                if name != "epochs" and steps_there is not None and steps_there <= limit and name != "validation_steps":
                    continue
                if name == "validation_steps" and self._expected and not self._marked:
                    limit = min(limit, STEPS_BEFORE)
                if value is None or value > limit:
                    given[name] = limit
                    self.note(f"{method.__name__}() was cut to {name}={limit}")
                    if not self.rounds["rounds"]:
                        self.rounds.update(rounds=limit, rounds_cut=True)
            return method(*bound.args, **bound.kwargs)

        return limited

    def _even(self, given: dict[str, Any]) -> None:
        """Cut the rows and labels of a training to as many, and to as many batches as a model is made for."""
        for words in fit_rows.even(given, self.rounds["sizes_made_up"]):
            self.made_up(words)

    def _patience(self) -> Any:
        """A callback that ends a training which takes long, after a few steps."""
        callback: Any = importlib.import_module("keras").callbacks.LambdaCallback
        end = time.process_time() + PART_OF_TRAINING * self._work

        def ended(batch: int, logs: Any = None) -> None:
            if batch + 1 >= STEPS_BEFORE and self._expected and not self._marked:
                self.note("a training before the flagged loop was ended after a few steps")
                made.model.stop_training = True
            elif batch + 1 >= STEPS_AT_LEAST and time.process_time() > end:
                self.note(f"a training was ended after {batch + 1} steps of an epoch: it takes long")
                self.rounds["steps_in_time"] += batch + 1
                if not self.rounds["rounds"]:
                    self.rounds.update(rounds=batch + 1, rounds_cut=True)
                made.model.stop_training = True

        made = callback(on_train_batch_end=ended)
        return made


def runs_now() -> bool:
    """Whether what is called runs, and is not traced."""
    ops = sys.modules.get("tensorflow.python.framework.ops")
    return ops is None or not ops.inside_function()


def _length(items: Any) -> int | None:
    with contextlib.suppress(Exception):  # of an iterator, of a data set without an end, of a class of its own
        return len(items)
    return None
