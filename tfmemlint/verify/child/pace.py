"""Lets a program go on only when the threads it has set to work have come to rest; loaded by `main.py`.

How far a pipeline has filled its buffers when the program takes the next element, and which of two threads frees its
memory first, is chance. A model that trains is the slow side: while it computes, the buffers fill up. Here the program
waits for that after each element that it takes and after each call of a `tf.function`, so that all runs agree.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class Pace:
    """Waits until the other threads of this process use no processor time and the allocator's figures stay."""

    INTERVAL = 0.0003
    QUIET = 4
    """Intervals without a change that count as rest."""
    BUSY = 0.1
    """Part of an interval that the other threads may use at rest: the sampler is one of them."""
    STEP, PROGRAM = 2.0, 40.0
    """Seconds after which waiting is given up: for one step, and for the whole program."""
    FIRST, STRIDE = 100, 16
    """Steps that are all waited for, and how many of the later ones, which only add to what has come to rest often."""

    def __init__(self, live: Callable[[], Any]) -> None:
        self._live = live
        self._all = self._left = 0.0
        self._steps = self._marks = 0

    @property
    def waited(self) -> float:
        """Seconds that the program has waited."""
        return self._all - self._left

    def settle_at_mark(self) -> None:
        """Wait for rest at one of many marks."""
        self._marks += 1
        if self._is_waited_for(self._marks):
            self.settle()

    def _is_waited_for(self, number: int) -> bool:
        return number <= self.FIRST or number % self.STRIDE == 0

    def settle(self, *_: Any) -> None:
        """Wait for rest; returns at once before `install`, in other threads and once the time is used up."""
        if self._left <= 0 or threading.current_thread() is not threading.main_thread():
            return
        start = time.monotonic()
        quiet, seen = 0, self._live()
        while quiet < self.QUIET and time.monotonic() - start < min(self.STEP, self._left):
            used, began = time.process_time() - time.thread_time(), time.monotonic()
            time.sleep(self.INTERVAL)
            busy = time.process_time() - time.thread_time() - used > self.BUSY * (time.monotonic() - began)
            before, seen = seen, self._live()
            quiet = 0 if busy or seen != before else quiet + 1
        self._left -= time.monotonic() - start

    def _after(self, owner: Any, name: str) -> None:
        call, settle = getattr(owner, name), self.settle
        context = sys.modules["tensorflow.python.eager.context"]

        @functools.wraps(call)
        def then_settle(*args: Any, **kwargs: Any) -> Any:
            try:
                return call(*args, **kwargs)
            finally:
                self._steps += 1
                if context.executing_eagerly() and self._is_waited_for(self._steps):
                    settle()

        setattr(owner, name, then_settle)

    def install(self) -> None:
        """Wait after each step of the program from here on. TensorFlow must have been imported."""
        self._all = self._left = self.PROGRAM
        functions = sys.modules["tensorflow.python.eager.polymorphic_function.polymorphic_function"]
        self._after(sys.modules["tensorflow.python.data.ops.iterator_ops"].OwnedIterator, "__next__")
        self._after(functions.Function, "__call__")
