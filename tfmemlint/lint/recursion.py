"""Where files are read: a recursion limit and a stack for deeply nested code, and whether processes are cheap."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

RECURSION_LIMIT = 50_000
_STACK_BYTES = 256 << 20
_USUAL_LIMIT = 1_000

FORKS = sys.platform == "linux"
"""Whether another process is a copy of this one, which costs some 15 ms; elsewhere it starts afresh."""

Answer = TypeVar("Answer")
_here = threading.local()


def is_deep() -> bool:
    """Whether this code runs within `with_deep_stack`."""
    return getattr(_here, "is_deep", False)


def with_deep_stack(function: Callable[[], Answer]) -> Answer:
    """Run a function where deeply nested code can be parsed and walked; libcst and we recurse into the tree."""
    answers: list[Answer] = []
    errors: list[BaseException] = []

    def call() -> None:
        _here.is_deep = True
        try:
            answers.append(function())
        except BaseException as error:
            errors.append(error)

    limit, old = sys.getrecursionlimit(), _deepen()
    thread = threading.Thread(target=call, daemon=True)
    try:
        thread.start()
    finally:
        threading.stack_size(old)
    try:
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
    if errors:
        raise errors[0]
    return answers[0]


@contextlib.contextmanager
def shallow() -> Iterator[None]:
    """Python's own recursion limit, for parsers in C that recurse on the stack of this very thread: with the limit of
    the deep ones they would overflow it where they should raise RecursionError."""
    old = sys.getrecursionlimit()
    sys.setrecursionlimit(min(old, _USUAL_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(old)


def _deepen() -> int:
    """Raise the recursion limit and the stack size of new threads; returns the old stack size.

    The garbage collector is made to wait: a syntax tree is many objects and none of them garbage, and looking for it at
    the usual rate takes a tenth of the time. A process that waits longer, as ours does, is left to that.
    """
    gc.set_threshold(max(gc.get_threshold()[0], 50_000), 20, 100)
    sys.setrecursionlimit(max(RECURSION_LIMIT, sys.getrecursionlimit()))
    try:
        return threading.stack_size(_STACK_BYTES)
    except (ValueError, RuntimeError):  # a system that does not let threads have this much
        return threading.stack_size()
