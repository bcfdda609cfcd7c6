"""The process in which a script's training step is measured:
`python -m tfmemlint.dev.probe.step_child SCRIPT RESULT [--batch N] [--inter-op N] [--gpu] [--jit]`.

The script runs as it is but for what makes its figures the same each time: all steps get the first batch of data
again, `fit` is compiled by XLA where that is asked for alone, and a batch size, if given, takes the place of the
module's `BATCH_SIZE`. Three steps warm up; the fourth runs under the profiler, and then the process ends. Steps are
those of `fit`, and the rounds of a loop of the script over a `tf.data.Dataset`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from tfmemlint.dev.probe.allocations import peak

WARM_UP = 3
"""Steps before the measured one: the first traces and makes slots, later ones still free what the first one left."""


class _Meter:
    """Counts the steps of the script, measures the one after the warm-up, and ends the process with its figures."""

    def __init__(self, result: Path, gpu: bool) -> None:
        self.tf = import_module("tensorflow")
        self.result = result
        self.device, self.allocator = ("GPU:0", "GPU_0_bfc") if gpu else ("CPU:0", "")
        self.done = 0
        self.data = 0
        self.batch = 0
        self.before = 0
        self.folder = tempfile.TemporaryDirectory()

    def takes(self, batch: Any) -> None:
        """Keeps how many examples and bytes one batch of data has."""
        tensors = self.tf.nest.flatten(batch)
        self.batch = tensors[0].shape[0]
        self.data = sum(tensor.shape.num_elements() * tensor.dtype.size for tensor in tensors)

    def begin(self) -> None:
        gc.collect()
        if self.done == WARM_UP:
            # What the kernels do is left out: looking at it takes memory of the card.
            options = self.tf.profiler.experimental.ProfilerOptions(device_tracer_level=0)
            self.tf.profiler.experimental.start(self.folder.name, options)
        self.tf.config.experimental.reset_memory_stats(self.device)
        self.before = self._memory()["current"]

    def end(self) -> None:
        after = self._memory()
        self.done += 1
        if self.done <= WARM_UP:
            return
        self.tf.profiler.experimental.stop()
        self.result.write_text(json.dumps(self._figures(after)), encoding="utf-8")
        # What the script does next is not measured; without this, threads that still run would keep the process.
        os._exit(0)

    def _memory(self) -> dict[str, int]:
        memory: dict[str, int] = self.tf.config.experimental.get_memory_info(self.device)
        return memory

    def _figures(self, after: dict[str, int]) -> dict[str, Any]:
        highest = peak(Path(self.folder.name), self.allocator)
        return {
            "batch": self.batch,
            "variables": self._variables(),
            "input_batch": self.data,
            "step_requested": highest.requested,
            "step_chunks": after["peak"] - min(self.before, after["current"]),
            "in_use": after["peak"],
            "peak_op": highest.op,
            "alive": highest.alive,
            "tensorflow": self.tf.__version__,
            "keras": import_module("keras").__version__,
        }

    def _variables(self) -> int:
        """The bytes of all variables that are alive on the device, those of metrics, counters and slots too."""
        kind = import_module("tensorflow.python.ops.resource_variable_ops").BaseResourceVariable
        # `isinstance` would ask some proxies for their class, which imports what they stand for.
        found = {id(each.handle): each for each in gc.get_objects() if issubclass(type(each), kind)}
        known = (each for each in found.values() if hasattr(each.handle, "numpy") and each.shape.is_fully_defined())
        eager = (each for each in known if each.device.endswith(self.device))
        return sum(each.shape.num_elements() * each.dtype.size for each in eager)


def _watch_fit(meter: _Meter, jit: bool) -> None:
    """Has `fit` take its first batch again and again, compiled by XLA or not, and tell the meter of its steps."""
    keras, tf = import_module("keras"), meter.tf
    adapters = import_module("keras.src.trainers.data_adapters")

    class Told(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        def on_train_batch_begin(self, batch: int, logs: object = None) -> None:
            meter.begin()

        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            meter.end()

    kept_compile, kept_fit = keras.Model.compile, keras.Model.fit

    def compile(self: Any, *args: Any, **options: Any) -> Any:
        return kept_compile(self, *args, **{**options, "jit_compile": jit})

    def fit(self: Any, x: Any = None, y: Any = None, batch_size: int | None = None, **options: Any) -> Any:
        given = {name: options.get(name) for name in ("sample_weight", "class_weight", "steps_per_epoch")}
        adapter = adapters.get_data_adapter(x, y, batch_size=batch_size, shuffle=False, **given)
        one = next(iter(adapter.get_tf_dataset()))
        meter.takes(one)
        callbacks = [*(options.get("callbacks") or ()), Told()]
        return kept_fit(self, tf.data.Dataset.from_tensors(one).repeat(WARM_UP + 1), callbacks=callbacks, verbose=0)

    keras.Model.compile, keras.Model.fit = compile, fit


class _Rounds:
    """The iterator of a loop of the script over a dataset: the first batch again and again, and the meter is told."""

    def __init__(self, batches: Any, meter: _Meter) -> None:
        self.one = next(batches)
        self.meter = meter
        self.begun = False
        meter.takes(self.one)

    def __iter__(self) -> _Rounds:
        return self

    def __next__(self) -> Any:
        if self.begun:
            self.meter.end()
        self.begun = True
        self.meter.begin()
        return self.one


def _watch_loops(meter: _Meter, script: dict[str, Any]) -> None:
    """Has loops that stand in the script itself, and not in a library, take the place of `_Rounds`."""
    base = import_module("tensorflow.python.data.ops.dataset_ops").DatasetV2
    kept = base.__iter__

    def iterate(self: Any) -> Any:
        batches = kept(self)
        return _Rounds(batches, meter) if sys._getframe(1).f_globals is script else batches

    base.__iter__ = iterate


def measure(script: Path, result: Path, batch: int | None, gpu: bool = False, jit: bool = False) -> None:
    """Runs the script and writes its figures as JSON; does not return if a step was seen."""
    source = script.read_text(encoding="utf-8")
    if batch is not None:
        source, found = re.subn(r"^BATCH_SIZE = .*$", f"BATCH_SIZE = {batch}", source, count=1, flags=re.MULTILINE)
        if not found:
            raise SystemExit(f"{script} has no module constant BATCH_SIZE")
    import_module("numpy").random.seed(0)
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(script)}
    meter = _Meter(result, gpu)
    _watch_fit(meter, jit)
    _watch_loops(meter, names)
    sys.argv = [str(script)]
    exec(compile(source, str(script), "exec"), names)
    raise SystemExit(f"{script} has fewer than {WARM_UP + 1} training steps")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("script", type=Path)
    parser.add_argument("result", type=Path)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--inter-op", type=int)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--jit", action="store_true")
    options = parser.parse_args()
    if options.inter_op is not None:
        import_module("tensorflow").config.threading.set_inter_op_parallelism_threads(options.inter_op)
    measure(options.script, options.result, options.batch, options.gpu, options.jit)


if __name__ == "__main__":
    main()
