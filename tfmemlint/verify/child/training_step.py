"""Measures one step of training, or one batch of `predict`, of a program that runs; loaded by `main.py`.

The step at the asked line runs four times with one constant batch, so that buffers of a pipeline stay out of it: once
or twice to make slots and trace, once to see what is left of a step for the next one, and once to be measured. Then the
program ends. Other training before that line is cut short.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

ROUNDS_AT_LEAST = 8
"""Of the loops that run before the step is reached, when a part of the time is over."""


class TrainingStep:
    """The step at a line. `request` has the `line`, the `batch` to take in place of the program's (None for its own),
    the `mode` ("graph", "eager", "jit" or None for that of the program), whether to measure `predict` in its place, and
    the `seconds` after which loops are cut short. `substitutes` is told what was cut, and of the figures."""

    def __init__(self, program: str, request: dict[str, Any], substitutes: Any, load: Callable[[str], Any]) -> None:
        self._program, self._asked, self._substitutes = program, request, substitutes
        self._module = load("step_rounds")
        self._rounds = self._module.Rounds(request["batch"], os.path.dirname(program), load)
        self._loops = load("step_loops")
        self._lines, self._kind = (0, 0), ""
        self._patient = time.monotonic() + request["seconds"]

    def run(self, execute: Callable[..., Any]) -> Any:
        """Run the program by `execute` until its step is measured; what `execute` gives, or None."""
        with open(self._program, "rb") as file:
            code, self._kind, self._lines = self._loops.hooked(file.read(), self._program, self._asked["line"])
        try:
            return execute(code=code)
        except self._module.StepMeasured:
            return None
        finally:
            self._substitutes.rounds["step"] = self._rounds.report

    def install(self, runtime: Any) -> None:
        """Put the hooks in place; TensorFlow and Keras are there, and what cuts training short too. `runtime` gives the
        bytes of the allocator."""
        for name, hook in ((self._loops.ROUNDS, self.rounds), (self._loops.TURN, self._turn)):
            setattr(builtins, name, hook)
        setattr(builtins, self._loops.CALLED, self._called)
        tensorflow: Any = sys.modules["tensorflow"]
        keras: Any = importlib.import_module("keras")
        self._rounds.install(keras, runtime)
        mode = self._asked["mode"]
        if mode == "eager":
            tensorflow.config.run_functions_eagerly(True)
        if mode == "jit":
            tensorflow.function = self._compiled_by_xla(tensorflow.function)
        self._plain_predict = inspect.unwrap(keras.Model.predict)
        keras.Model.compile = self._with_mode(keras.Model.compile, mode)
        for name, run in (("fit", self._fit), ("predict", self._predict)):
            setattr(keras.Model, name, self._here(getattr(keras.Model, name), run))
        for name in ("train_on_batch", "predict_on_batch"):
            setattr(keras.Model, name, self._here(getattr(keras.Model, name), self._on_batch))

    # -- how the program trains --------------------------------------------------------------------------------------

    def _with_mode(self, compile_model: Any, mode: str | None) -> Any:
        def compile_so(model: Any, *args: Any, **kwargs: Any) -> Any:
            bound = inspect.signature(compile_model).bind(model, *args, **kwargs).arguments
            jit = bound.get("jit_compile", "auto")
            chosen = {"jit_compile": mode == "jit" if mode or jit == "auto" else jit}
            if "steps_per_execution" in bound:
                chosen["steps_per_execution"] = 1
            if mode:
                chosen["run_eagerly"] = mode == "eager"
            return compile_model(**{**_named(bound), **chosen})

        return compile_so

    def _compiled_by_xla(self, function: Any) -> Any:
        def compiled(*args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_code.co_filename == self._program:
                kwargs["jit_compile"] = True
            return function(*args, **kwargs)

        return compiled

    def _here(self, method: Any, run: Callable[..., Any]) -> Any:
        """The method, which measures where it is called from the asked line."""
        original = inspect.unwrap(method)

        def called(model: Any, *args: Any, **kwargs: Any) -> Any:
            if self._kind != "call" or not self._called_from_line():
                return method(model, *args, **kwargs)
            signature = inspect.signature(original)
            known = {name: value for name, value in kwargs.items() if name in signature.parameters}
            bound = signature.bind(model, *args, **known)
            bound.apply_defaults()
            return run(original, bound.arguments)

        return called

    def _called_from_line(self) -> bool:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code.co_filename == self._program:
                return self._lines[0] <= frame.f_lineno <= self._lines[1]
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def _fit(self, fit: Any, given: dict[str, Any]) -> Any:
        names = ("x", "y", "sample_weight", "batch_size", "steps_per_epoch", "class_weight")
        batch = self._constant({name: given.get(name) for name in names})
        if self._asked["predict"]:
            first = batch[0] if isinstance(batch, tuple) else batch
            self._rounds.of(first)
            self._leave_slots_out()
            return self._batches(self._plain_predict, given["self"], (first,))
        return self._with_labels(fit, given["self"], batch)

    def _with_labels(self, fit: Any, model: Any, batch: Any) -> Any:
        """Train with a batch; where its data is made up and does not fit the model, with labels that do."""
        tensorflow = sys.modules["tensorflow"]
        try:
            return self._batches(fit, model, batch, epochs=1)
        except (ValueError, tensorflow.errors.InvalidArgumentError):
            outputs = getattr(model, "outputs", None)
            if not self._substitutes.notes or not outputs or not isinstance(batch, tuple):
                raise
        rows = self._rounds.examples()
        model.train_function = None
        for sparse in (False, True):
            shapes = [[rows, *each.shape[1 : -1 if sparse else None]] for each in outputs]
            labels = [tensorflow.zeros(shape, "int32" if sparse else "float32") for shape in shapes]
            self._rounds.count = 0
            self._substitutes.made_up("labels were made up that fit what the model gives")
            batch = self._rounds.of((batch[0], labels[0] if len(labels) == 1 else labels))
            try:
                return self._batches(fit, model, batch, epochs=1)
            except (ValueError, tensorflow.errors.InvalidArgumentError):
                if sparse:
                    raise
        return None

    def _predict(self, predict: Any, given: dict[str, Any]) -> Any:
        batch = self._constant({name: given[name] for name in ("x", "batch_size")})
        self._leave_slots_out()
        return self._batches(predict, given["self"], batch)

    def _leave_slots_out(self) -> None:
        self._rounds.trains = False
        self._substitutes.note("what optimizers keep is left out of what a batch of predict takes")

    def _constant(self, given: dict[str, Any]) -> Any:
        """The first batch of what the program trains with."""
        adapters = importlib.import_module("keras.src.trainers.data_adapters")
        adapter = adapters.get_data_adapter(**given, shuffle=False)
        return self._rounds.of(next(iter(adapter.get_tf_dataset())))

    def _batches(self, method: Any, model: Any, batch: Any, **options: Any) -> Any:
        """Run a method over one constant batch again and again."""
        rounds, base = self._rounds, importlib.import_module("keras").callbacks.Callback

        class EachRound(base):  # type: ignore[misc, valid-type]
            on_train_batch_begin = on_predict_batch_begin = lambda *_, **__: rounds.begin()
            on_train_batch_end = on_predict_batch_end = lambda *_, **__: rounds.end()

        data = sys.modules["tensorflow"].data.Dataset.from_tensors(batch).repeat(self._module.STEPS)
        return method(model, data, verbose=0, callbacks=[EachRound()], **options)

    def _on_batch(self, method: Any, given: dict[str, Any]) -> Any:
        tensorflow = sys.modules["tensorflow"]
        names = [name for name in ("x", "y", "sample_weight") if given.get(name) is not None]
        if "y" not in given:
            self._leave_slots_out()
        parts = [tensorflow.nest.map_structure(tensorflow.convert_to_tensor, given[name]) for name in names]
        given.update(dict(zip(names, self._rounds.of(tuple(parts)), strict=True)))
        for _ in range(self._module.STEPS):
            self._rounds.begin()
            method(**given)
            self._rounds.end()

    def _called(self, function: Any) -> Any:
        """A function of which each call is a step."""

        def called(*args: Any, **kwargs: Any) -> Any:
            if not self._runs_now():
                return function(*args, **kwargs)
            args, kwargs = self._rounds.of((args, kwargs))
            for _ in range(self._module.STEPS):
                self._rounds.begin()
                function(*args, **kwargs)
                self._rounds.end()

        return called

    # -- loops of the program ----------------------------------------------------------------------------------------

    def rounds(self, items: Any, asked: bool, line: int) -> Any:
        """The items of a `for` loop: of the asked one the same batch again and again, until it is measured."""
        if not self._runs_now():
            return items
        return self._asked_rounds(items) if asked else self._other_rounds(items, line)

    def _other_rounds(self, items: Any, line: int) -> Iterator[Any]:
        for number, item in enumerate(items):
            if number >= ROUNDS_AT_LEAST and time.monotonic() > self._patient:
                self._substitutes.note(f"the loop at line {line} was cut after {number} rounds")
                return
            yield item

    def _asked_rounds(self, items: Any) -> Iterator[Any]:
        rounds = iter(items)
        first = next(rounds, self)
        constant = any(map(self._module.has_shape, self._module.leaves(first)))
        if constant:
            del rounds
            gc.collect()
            first = self._rounds.of(first)
        while first is not self:
            self._rounds.begin()
            yield first
            self._rounds.end()
            if not constant:
                first = next(rounds, self)

    def _turn(self) -> None:
        """A turn of the asked `while` loop begins."""
        if self._runs_now():
            if self._rounds.count:
                self._rounds.end()
            self._rounds.begin()

    def _runs_now(self) -> bool:
        return not sys.modules["tensorflow.python.framework.ops"].inside_function()


def _named(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name, those of `**kwargs` among them."""
    return {**{name: value for name, value in arguments.items() if name != "kwargs"}, **arguments.get("kwargs", {})}
