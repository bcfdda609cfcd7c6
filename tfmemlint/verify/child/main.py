"""Runs one program in this fresh process and writes what it cost as one JSON object.

    python main.py REQUEST.json        (or - for the request on standard input)

The only file of tfmemlint that imports TensorFlow; with the modules beside it it needs the standard library
alone, so that it runs under the user's own interpreter, where tfmemlint need not be installed. Keys of the request:

- `program`: path of the Python file to run as `__main__`; `source`: its text, written to that path first, where given
- `argv`: arguments of the program; `path`: folders put in front of `sys.path` for the program alone
- `libraries`: folders of `PYTHONPATH`, which come before installed packages here and after the standard library, so
  that modules of a project cannot take the place of the monitor's own
- `result`: path or number of the file to write; standard output where missing. `key`: what the result begins with
- `device`: "cpu", "gpu" or "auto"; `simulated_gpus`: the cards that TensorFlow's checks shall at least believe in
- `preload`: import TensorFlow before the program, so that its import is not part of the figures (default true)
- `paced`: place arrays and wait for other threads such that the tensor bytes of two runs are the same; with `preload`
- `lines`: whether to note the user's lines that were executing, `own`: the folder whose files are the user's
- `substitute`: stand in for data that would be fetched and for what nobody passes, and cut training short (see
  `datasets.py`, `stand_ins.py` and `substitutes.py`)
- `beside`: folders in which the files of relative paths are looked for too; `modules`: the texts of its own modules
- `notebook`: the program is the code of one, and finds `get_ipython`, which gives None, and `display`, which prints
- `package`: the package of the program, for its relative imports
- `shapes`: pairs of sizes that are made up behind the first axis of arrays, and those that fit in their place,
  `rows`: of numbers of rows; `columns`: names that made-up tables have besides; `present`: whether files are there
  that the program looks for (see `files.py`), `many`: whether made-up folders have many of them
- `patient`, `work`: seconds, and seconds of processor time, after which loops and training are cut short; with
  `substitute`
- `version_1`, `keras_2`: what it is written for (see `surroundings.py`); with `substitute`
- `collector`: "off", or "each mark" to run it before each mark, of Python (default: as Python does)
- `raised`: whether to note the exceptions of the program, caught or not
- `step`: the training step to measure, after which the program ends (see `training_step.py`); with `substitute`
- `interval`: seconds between two samples; `reserve`: bytes of the allocator's first region on a CPU

A program may call `tfmemlint_mark()` once per step (leaks are judged by the growth from mark to mark),
`tfmemlint_reset()` when its preparations are done, and `tfmemlint_value(number)` to report a figure of its own.
"""

from __future__ import annotations

import builtins
import functools
import gc
import importlib.abc
import importlib.util
import json
import math
import os
import random
import sys
import time
import traceback
from pathlib import Path
from typing import Any

MARKS = 10_000
KEPT: list[Any] = []
"""What C code points to."""


class Parts(importlib.abc.MetaPathFinder):
    """Finds the modules beside this one as `tfmemlint_NAME`: this folder must not be on `sys.path`, where their names
    would shadow others."""

    HERE, PREFIX = Path(__file__).resolve().parent, "tfmemlint_"

    @classmethod
    def find_spec(cls, fullname: str, path: Any, target: Any = None) -> Any:
        """Of what is a file here."""
        place = cls.HERE / f"{fullname.removeprefix(cls.PREFIX)}.py"
        wanted = fullname.startswith(cls.PREFIX) and place.is_file()
        return importlib.util.spec_from_file_location(fullname, place) if wanted else None


def monitor_part(name: str) -> Any:
    """The module of that name beside this one."""
    return importlib.import_module(Parts.PREFIX + name)


sys.path[:] = [entry for entry in sys.path if not entry or Path(entry).resolve() != Parts.HERE]
sys.meta_path.insert(0, Parts)
NAMES = ("calls", "cards", "execution", "flagged", "pace", "probes", "runtime", "step_times")
calls, cards, execution, flagged, pace, probes, runtime, step_times = map(monitor_part, NAMES)


class Monitor:
    """All probes of one run and the hooks that the program may call."""

    def __init__(self, request: dict[str, Any], hooks: Any) -> None:
        self.runtime, self.traces = hooks
        self.pace = pace.Pace(self.runtime.live)
        self.step_times = step_times.StepTimes(lambda: float(self.pace.waited))
        self.arrays: Any = None
        self.collect = probes.collector(request.get("collector", ""))
        self.cards, self.calls = cards.Cards(), calls.Calls()
        self.flagged = flagged.Flagged(self.runtime.live, self.runtime.reset)
        self.marks: list[list[Any]] = []
        self.value: float | None = None
        self.simulated = 0  # cards
        self.rss_start: int | None = None
        self.traces_start = self.files_start = 0
        self.start = time.monotonic()
        own = probes.belongs(request["own"], request["program"]) if request.get("lines") else None
        self.nvml, interval = probes.Nvml(), request.get("interval", 0.005)
        self.sampler = probes.Sampler(self.runtime.live, interval, self.nvml, own)

    def begin(self, everything: bool = True) -> None:
        """Count from here on; what the program calls `tfmemlint_reset()`. Garbage that is older than the program is
        looked for where `everything` is meant."""
        gc.collect(2 if everything else 1)
        self.runtime.reset()
        if self.arrays is not None:
            self.arrays.reset()
        probes.reset_rss_peak()
        self.rss_start, self.files_start = probes.rss(), probes.mapped_files()
        self.traces_start = self.traces.count
        self.marks.clear()
        self.sampler.restart()
        self.start = time.monotonic()

    def mark(self, *_: Any) -> None:
        """The program has done one more step."""
        if len(self.marks) < MARKS:
            self.collect()
            self.pace.settle_at_mark()
            current, peak = self.runtime.live() or (0, 0)
            traces = self.traces.count - self.traces_start
            seconds = round(time.monotonic() - self.start, 4)
            self.marks.append([seconds, current, peak, probes.rss(), traces, runtime.nodes()])

    def report(self, number: float) -> None:
        """A figure of the program's own; the last one counts. Raises ValueError for one that is not finite."""
        if not math.isfinite(number):
            raise ValueError(f"tfmemlint_value({number}) is not a finite number")
        self.value = float(number)

    def install(self) -> None:
        """Put the hooks where every module finds them."""
        for name, hook in (("mark", self.mark), ("reset", self.begin), ("value", self.report)):
            setattr(builtins, f"tfmemlint_{name}", hook)

    def figures(self, seconds: float) -> dict[str, Any]:
        """What was measured, after the program's end and with its globals still alive."""
        self.pace.settle()
        self.sampler.sample()
        before, beside = self.runtime.live(), self.runtime.beside()
        rss_peak, rss_end, files = probes.rss_peak(), probes.rss(), probes.mapped_files()
        gc.collect()
        after, left = self.runtime.live(), self.runtime.beside()
        return {
            "initialized": self.runtime.context is not None,
            "device": self.runtime.device,
            "allocator_problem": self.runtime.problem,
            "peak_bytes": before[1] if before else None,
            "live_bytes": after[0] if after else None,
            "host_peak_bytes": beside[1] if beside else None,
            "host_live_bytes": left[0] if left else None,
            "card": self.nvml.words(),
            "arrays_peak": self.arrays.peak if self.arrays is not None else None,
            "rss_start": self.rss_start,
            "rss_peak": rss_peak,
            "rss_end": rss_end,
            "rss_files": max(0, files - self.files_start),
            "device_used_peak": self.sampler.device_peak,
            "traces": self.traces.count - self.traces_start,
            "traces_by_name": self.traces.by_name,
            "seconds": round(seconds, 4),
            "value": self.value,
            "marks": self.marks,
            "timeline": self.sampler.timeline.samples,
            "lines": [
                {"file": file, "line": line, "function": function, **seen}
                for (file, line, function), seen in self.sampler.lines.items()
            ],
            "gpu_options": self.runtime.gpu_options(),
            "simulated": self.simulated,
            "cards": self.cards.report(),
            **self.calls.report(),
            **self.flagged.report(),
            **self.step_times.report(),
        }


def load(request: dict[str, Any]) -> None:
    """Environment, libraries and, where asked for, TensorFlow itself, without anything that starts its runtime."""
    os.environ["TF_CPU_ALLOCATOR_USE_BFC"] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if request.get("step"):  # without oneDNN convolutions take room for patches of their input, which no card does
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    if libraries := request.get("libraries"):
        packages = (place for place, entry in enumerate(sys.path) if entry.endswith(("site-packages", "dist-packages")))
        place = next(packages, len(sys.path))
        sys.path[place:place] = libraries
        os.environ["PYTHONPATH"] = os.pathsep.join(libraries)
    if request.get("preload", True):
        importlib.import_module("tensorflow")


def prepare(request: dict[str, Any], monitor: Monitor) -> None:
    """The program's own file, random numbers and cards, before anything is counted."""
    if request.get("source") is not None:
        Path(request["program"]).write_text(request["source"], encoding="utf-8")
    if request.get("preload", True):
        random.seed(0)
        if "numpy" in sys.modules:  # which TensorFlow imports
            sys.modules["numpy"].random.seed(0)
        if "tfmemlint_look(" not in (request.get("source") or ""):  # which would have each epoch draw the same
            importlib.import_module("tensorflow").random.set_seed(0)
        there = 0 if request.get("device") == "cpu" else monitor.nvml.count()
        monitor.simulated = runtime.simulate_gpus(request.get("simulated_gpus", 0), there)


def measure(request: dict[str, Any], hooks: Any = None) -> tuple[dict[str, Any], int]:
    """Run the requested program; its result and its exit code. With `hooks`, what `load` does has been done."""
    program, fresh = os.path.abspath(request["program"]), hooks is None
    if hooks is None:
        hooks = runtime.hook(request)
        load(request)
    monitor = Monitor(request, hooks)
    prepare(request, monitor)
    if monitor.simulated:
        monitor.cards.install()
    if request.get("paced"):
        monitor.arrays = monitor_part("arrays").install()
        KEPT.append(monitor.arrays)
        monitor.pace.install()
    monitor.install()
    stands_in = request.get("substitute")
    substitutes = monitor_part("standing_in").install(program, request, monitor, monitor_part) if stands_in else None
    sys.path[:0] = request.get("path", [])
    error: dict[str, Any] | None = None
    code, module = 0, None
    monitor.cards.begin()
    monitor.begin(everything=fresh)
    monitor.sampler.start()
    raised = cards.Raised(os.path.dirname(program))
    if request.get("raised"):
        raised.watch()
    try:
        words, in_notebook = request.get("argv", []), request.get("notebook", False)
        run = functools.partial(execution.execute, program, words, request.get("package"), notebook=in_notebook)
        module = substitutes.step.run(run) if substitutes is not None and substitutes.step is not None else run()
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        if isinstance(stop.code, str):
            print(stop.code, file=sys.stderr)
        if code:
            error = probes.describe(stop, program)
    except BaseException as failure:
        probes.without_monitor(failure, program)
        traceback.print_exception(failure)
        error, code = probes.describe(failure, program), 1
    sys.settrace(None)
    seconds = time.monotonic() - monitor.start
    monitor.sampler.finish()
    figures = monitor.figures(seconds)
    del module
    notes, rounds = (list(substitutes.notes), substitutes.rounds) if substitutes is not None else ([], {})
    said = {"status": "error" if error else "ok", "error": error, "raised": list(raised.texts), "notes": notes}
    return {**said, **rounds, **figures, "versions": runtime.versions()}, code


def read_request(name: str) -> dict[str, Any]:
    """The request in the file of that name, which the program shall not find, or on standard input."""
    text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    if name != "-":
        Path(name).unlink()
    request: dict[str, Any] = json.loads(text)
    if isinstance(request.get("result"), int):
        os.set_inheritable(request["result"], False)
    return request


def answer(request: dict[str, Any], hooks: Any = None) -> int:
    """Run the request and write the result; the exit code is the program's."""
    process = os.getpid()
    where, key = request.pop("result", None), request.pop("key", "")
    result, code = measure(request, hooks)
    if os.getpid() != process:  # a forked copy of the program came back here: it has no result to write
        os._exit(code)
    encoded = json.dumps({"key": key, **result})
    if where is None:
        print(encoded)
    else:
        with open(where, "w", encoding="utf-8") as file:
            file.write(encoded)
    sys.stdout.flush()
    sys.stderr.flush()
    if request.get("preload", True):
        os._exit(code)  # threads and exit handlers of a measured program can hang; a user's own script keeps its end
    return code


if __name__ == "__main__":
    sys.exit(answer(read_request(sys.argv[1])))
