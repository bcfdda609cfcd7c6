"""What one process can know about its own memory; standard library only, loaded by `main.py` from its file.

Bytes throughout; None stands for a figure that this system does not offer.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import re
import resource
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

STATUS = "/proc/self/status"
EXCERPT, WORD = 4000, 200
OUT_OF_MEMORY = ("ResourceExhaustedError", "MemoryError", "_ArrayMemoryError")


def _status_bytes(field: str) -> int | None:
    try:
        with open(STATUS, encoding="ascii", errors="replace") as file:
            found = re.search(rf"^{field}:\s+(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def rss() -> int | None:
    """Resident memory of this process now."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def mapped_files() -> int:
    """Resident bytes of mapped files, as those of libraries are; 0 where the system does not tell."""
    return _status_bytes("RssFile") or 0


def rss_peak() -> int:
    """The most resident memory since the start of the process or the last `reset_rss_peak`."""
    peak = _status_bytes("VmHWM")
    if peak is not None:
        return peak
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def reset_rss_peak() -> None:
    """Start `rss_peak` again from now, where the kernel allows it."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def collector(timing: str) -> Callable[[], object]:
    """Have Python's collector run as the request says; what is to be called before each mark."""
    if timing == "off":
        gc.disable()
    return gc.collect if timing == "each mark" else lambda: None


def without_monitor(error: BaseException, program: str) -> None:
    """Take the monitor's own frames off the traceback, as if the program had been started directly."""
    step = error.__traceback__
    while step is not None and step.tb_frame.f_code.co_filename != program:
        step = step.tb_next
    if step is not None:
        error.__traceback__ = step


def _message(error: BaseException) -> str:
    try:
        return str(error)[:EXCERPT]
    except Exception:  # a `__str__` of the program's own
        return ""


def _named(error: BaseException, program: str) -> list[int]:
    """The lines of the program that the text of an exception names, as it does for code that AutoGraph has turned into
    other code."""
    name = re.escape(os.path.basename(program))
    return [int(row) for row in re.findall(rf'/{name}", line (\d+), in ', _message(error))]


def describe(error: BaseException, program: str) -> dict[str, Any]:
    """Type, text and the program's own lines of an exception."""
    kind, frames = type(error), traceback.extract_tb(error.__traceback__)
    return {
        "type": kind.__name__[:WORD],
        "module": str(kind.__module__)[:WORD],
        "message": _message(error),
        "lines": [*(frame.lineno for frame in frames if frame.filename == program), *_named(error, program)][:EXCERPT],
        "out_of_memory": kind.__name__ in OUT_OF_MEMORY,
        "traceback": "".join(traceback.format_exception(error))[-EXCERPT:],
    }


class _NvmlMemory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class Nvml:
    """What the driver knows of the first card, through `libnvidia-ml`; `available` is False without one."""

    WIDEST = 96
    """Bytes that a name or a version can have."""

    def __init__(self) -> None:
        self.available = False
        self._device = ctypes.c_void_p()
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
            failed = self._library.nvmlInit_v2() or self._library.nvmlDeviceGetHandleByIndex_v2(
                ctypes.c_uint(0), ctypes.byref(self._device)
            )
        except (OSError, AttributeError):
            return
        self.available = not failed

    def used(self) -> int | None:
        """Bytes in use on the card by all processes together."""
        if not self.available:
            return None
        memory = _NvmlMemory()
        failed = self._library.nvmlDeviceGetMemoryInfo(self._device, ctypes.byref(memory))
        return None if failed else int(memory.used)

    def count(self) -> int:
        """How many cards there are."""
        found = ctypes.c_uint(0)
        if not self.available or self._library.nvmlDeviceGetCount_v2(ctypes.byref(found)):
            return 0
        return found.value

    def words(self) -> str | None:
        """The card and its driver for a reader, None where there is no card or it has no name."""
        if not self.available:
            return None
        name, driver = (ctypes.create_string_buffer(self.WIDEST) for _ in range(2))
        width = ctypes.c_uint(self.WIDEST)
        if self._library.nvmlDeviceGetName(self._device, name, width):
            return None
        if self._library.nvmlSystemGetDriverVersion(driver, width):
            return name.value.decode("utf-8", "replace")
        return f"{name.value.decode('utf-8', 'replace')}, driver {driver.value.decode('utf-8', 'replace')}"


def belongs(folder: str, program: str) -> Callable[[str], bool]:
    """Tells whether the file of that name is the user's: the program, or one below the folder but for packages that are
    installed there."""
    above, itself = os.path.join(os.path.abspath(folder), ""), os.path.abspath(program)
    known: dict[str, bool] = {}

    def own(name: str) -> bool:
        if name not in known:
            path = os.path.abspath(name)
            below = path.startswith(above) and "site-packages" not in path and os.path.exists(path)
            known[name] = below or path == itself
        return known[name]

    return own


class Timeline:
    """Samples in order, thinned to a bounded number: when full, pairs are merged and the larger live figure kept.

    A sample is `[seconds, live, rss, device]`.
    """

    CAPACITY = 1200

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self.samples: list[list[Any]] = []

    def add(self, sample: list[Any]) -> None:
        """Keep the sample, thinning first where there is no room."""
        if len(self.samples) >= self.CAPACITY:
            pairs = zip(self.samples[0::2], self.samples[1::2], strict=False)
            self.samples = [max(pair, key=lambda sample: sample[1] or 0) for pair in pairs]
            self.interval *= 2
        self.samples.append(sample)


class Sampler(threading.Thread):
    """Reads memory and, where asked to, the user's line that is executing, until `finish` is called.

    `live` returns `(current, peak)` of the tensor allocator or None before the runtime is initialised.
    `own` says of a file name whether it belongs to the user; None means that lines are not wanted.
    """

    LINES = 10_000

    def __init__(
        self,
        live: Callable[[], tuple[int, int] | None],
        interval: float,
        nvml: Nvml,
        own: Callable[[str], bool] | None = None,
    ) -> None:
        super().__init__(name="tfmemlint-sampler", daemon=True)
        self.timeline = Timeline(interval)
        self.lines: dict[tuple[str, int, str], dict[str, Any]] = {}
        self.device_peak: int | None = None
        self._live, self._nvml, self._own = live, nvml, own
        self._start = time.monotonic()
        self._main = threading.main_thread().ident or 0
        self._peak = 0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(self.timeline.interval):
            self.sample()

    def restart(self) -> None:
        """Forget what was seen so far; time counts from now."""
        self.timeline.samples.clear()
        self.lines.clear()
        self.device_peak, self._peak, self._start = None, 0, time.monotonic()

    def sample(self) -> None:
        """Take one sample now."""
        figures = self._live()
        current, peak = figures or (0, 0)
        resident = rss()
        device = self._nvml.used()
        if device is not None:
            self.device_peak = max(device, self.device_peak or 0)
        self.timeline.add([round(time.monotonic() - self._start, 4), current, resident, device])
        if self._own is not None:
            self._see_line(current, peak, resident or 0)
        self._peak = max(self._peak, peak)

    def _see_line(self, current: int, peak: int, resident: int) -> None:
        place = self._user_line()
        if place is None or (place not in self.lines and len(self.lines) >= self.LINES):
            return
        seen = self.lines.setdefault(place, {"samples": 0, "live": 0, "rss": 0, "rise": 0})
        seen["samples"] += 1
        seen["live"] = max(seen["live"], current)
        seen["rss"] = max(seen["rss"], resident)
        seen["rise"] += max(0, peak - self._peak)

    def _user_line(self) -> tuple[str, int, str] | None:
        frame = sys._current_frames().get(self._main)
        while frame is not None:
            if self._own is not None and self._own(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name[:200]
            frame = frame.f_back
        return None

    def finish(self) -> None:
        """Stop sampling and wait for the thread."""
        self._done.set()
        if self.is_alive():
            self.join(timeout=5)
