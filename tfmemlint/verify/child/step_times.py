"""How long a training step takes: of Keras, and of functions that TensorFlow makes graphs of; loaded by `main.py`.

The first calls are left out: they trace a graph, or make what is made once. The median of the others is what a busy
machine, or a batch of another shape, changes least.
"""

from __future__ import annotations

import functools
import importlib
import statistics
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

FIRST, LEAST = 2, 3
"""Calls that are left out in the beginning, and those that must follow."""

MOST_NAMES = 50
TRAINS = "train_function"


class StepTimes:
    """Times the outermost calls of the main thread; `waited` gives the seconds that the monitor has waited."""

    def __init__(self, waited: Callable[[], float]) -> None:
        self._waited = waited
        self._inside = False
        self._times: dict[str, list[float]] = {}

    def install(self) -> None:
        """Time what TensorFlow makes graphs of, and the step of Keras, which is such a function or none."""
        module: Any = importlib.import_module("tensorflow.python.eager.polymorphic_function.polymorphic_function")
        call = module.Function.__call__

        @functools.wraps(call)
        def __call__(it: Any, *args: Any, **kwargs: Any) -> Any:
            return self._timed(getattr(it, "__name__", "") or "function", call, it, *args, **kwargs)

        module.Function.__call__ = __call__
        for name in ("keras", "tf_keras"):
            if name in sys.modules:
                self._patch(sys.modules[name].Model)

    def _patch(self, model: Any) -> None:
        make = model.make_train_function

        @functools.wraps(make)
        def make_train_function(it: Any, *args: Any, **kwargs: Any) -> Any:
            made = make(it, *args, **kwargs)
            step = it.train_function
            if step is None or hasattr(step, "tfmemlint_timed"):
                return made

            @functools.wraps(step)
            def timed(*inputs: Any, **options: Any) -> Any:
                return self._timed(TRAINS, step, *inputs, **options)

            timed.tfmemlint_timed = True  # type: ignore[attr-defined]
            it.train_function = timed
            return made if made is None else timed

        model.make_train_function = make_train_function

    def _timed(self, name: str, call: Any, *args: Any, **kwargs: Any) -> Any:
        if self._inside or threading.current_thread() is not threading.main_thread() or _is_traced():
            return call(*args, **kwargs)
        self._inside = True
        began, before = time.perf_counter(), self._waited()
        try:
            return call(*args, **kwargs)
        finally:
            self._inside = False
            if name in self._times or len(self._times) < MOST_NAMES:
                taken = time.perf_counter() - began - (self._waited() - before)
                self._times.setdefault(name, []).append(max(0.0, taken))

    def report(self) -> dict[str, Any]:
        """Seconds that one call of each takes, the median of those behind the first ones, summed up;
        None where nothing is called often enough."""
        later = [times[FIRST:] for times in self._times.values() if len(times) >= FIRST + LEAST]
        return {"step_seconds": sum(map(statistics.median, later)) if later else None}


def _is_traced() -> bool:
    ops = sys.modules.get("tensorflow.python.framework.ops")
    return ops is not None and bool(ops.inside_function())
