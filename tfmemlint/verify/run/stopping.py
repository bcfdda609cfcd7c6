"""Signals that would end this process at once, turned into its ordinary end, so that it leaves nothing behind."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

SIGNALED = 128
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Sent to end a process and when its terminal is closed."""


@contextlib.contextmanager
def _handled(numbers: list[int], handler: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle the signals, but for those that this process was told to ignore, as under `nohup`."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    before = {number: old for number, old in before.items() if old is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextlib.contextmanager
def ended_cleanly(interrupts: bool = True) -> Iterator[None]:
    """Have these signals raise an exception once: the way out is not interrupted by another one.

    The exit code is 128 + the signal's number, as a shell gives it. `interrupts` says whether Ctrl-C is one of them.
    """
    numbers = [*([signal.SIGINT] if interrupts else ()), *ENDING]

    def stop(number: int, _: Any) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(SIGNALED + number)

    with _handled(numbers, stop):
        yield


@contextlib.contextmanager
def passed_on(process: subprocess.Popen[bytes]) -> Iterator[list[int]]:
    """Send the signals on to a process that ends as it likes; the list holds those that came."""
    came: list[int] = []

    def send(number: int, _: Any) -> None:
        came.append(number)
        process.send_signal(number)

    with _handled(ENDING, send):
        yield came
