"""What can be seen of TensorFlow from inside its process without importing or initialising it; loaded by `main.py`.

Standard library only: everything is read from `sys.modules` after the program itself has imported TensorFlow.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

HOST = "CPU:0"
LONGEST = 200
"""Letters of a version."""


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls a function on a module as soon as the module has been imported by whomever."""

    def __init__(self, name: str, then: Callable[[Any], None]) -> None:
        self._name, self._then = name, then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            run, then = spec.loader.exec_module, self._then

            def exec_module(module: types.ModuleType) -> None:
                run(module)
                then(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class Traces:
    """Counts how often a `tf.function` (a `Dataset.map` function and Keras' own steps too) is traced to a graph."""

    MAKERS = ("_create_concrete_function", "_create_graph_function")
    NAMES, LENGTH = 50, 200

    def __init__(self) -> None:
        self.count = 0
        self.by_name: dict[str, int] = {}
        sys.meta_path.insert(0, AfterImport("tensorflow.python.framework.func_graph", self._hook))

    def _hook(self, module: Any) -> None:
        build = module.func_graph_from_py_func

        def func_graph_from_py_func(name: Any, *args: Any, **kwargs: Any) -> Any:
            if sys._getframe(1).f_code.co_name in self.MAKERS:
                self.count += 1
                known = str(name)[: self.LENGTH]
                if known in self.by_name or len(self.by_name) < self.NAMES:
                    self.by_name[known] = self.by_name.get(known, 0) + 1
            return build(name, *args, **kwargs)

        module.func_graph_from_py_func = func_graph_from_py_func


def simulate_gpus(count: int, there: int = 0) -> int:
    """Make TensorFlow's Python side believe in `count` graphics cards, so that its checks of device settings run; how
    many are simulated: none where so many are `there`, else all, and no real one can be used beside them.

    Nothing is ever placed on them: the C++ runtime does not know them.
    """
    if count <= there:
        return 0
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    context_module = importlib.import_module("tensorflow.python.eager.context")
    context = context_module.context()
    context._initialize_physical_devices()
    for number in range(count):
        device = context_module.PhysicalDevice(f"/physical_device:GPU:{number}", "GPU")
        context._physical_device_to_index[device] = len(context._physical_devices)
        context._physical_devices.append(device)
        context._visible_device_list.append(device)
        context._memory_growth_map[device] = None
    return count


def nodes() -> int:
    """How many nodes have been added to the graph that a program for version 1 builds; 0 in eager execution."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or tensorflow.executing_eagerly():
        return 0
    return int(tensorflow.compat.v1.get_default_graph().version)


class Reserve:
    """Gives the CPU's allocator one large region as soon as the program has initialised the runtime.

    A region that grows by doubling hands out chunks of up to twice the wanted size and counts them whole; from one
    large region, which a graphics card has from the start, each tensor takes its own size. The memory is not touched
    and so costs nothing. `held` bytes stay taken: the rest of the small region that asking for the large one made.
    """

    REST = 3 << 19

    def __init__(self, size: int) -> None:
        self.held = 0
        self.busy = False
        self._size = size
        self._rest: Any = None
        if size:
            sys.meta_path.insert(0, AfterImport("tensorflow.python.eager.context", self._hook))

    def _hook(self, module: Any) -> None:
        ensure = module.Context.ensure_initialized

        def ensure_initialized(context: Any) -> None:
            if context._initialized:
                return
            self.busy = True
            try:
                ensure(context)
                if context._initialized and not context.num_gpus():
                    self._take(context)
            finally:
                self.busy = False

        module.Context.ensure_initialized = ensure_initialized

    def _take(self, context: Any) -> None:
        tensorflow = sys.modules["tensorflow"]

        def empty(*shape: int) -> Any:
            return tensorflow.raw_ops.Empty(shape=shape, dtype=tensorflow.uint8, init=False)

        with contextlib.suppress(Exception), tensorflow.init_scope(), tensorflow.device("CPU:0"):
            empty(max(1, self._size >> 20), 1 << 20)  # one axis of more than 2**31 elements is refused
            self._rest = empty(self.REST)
            context.reset_memory_stats("CPU:0")
            self.held = context.get_memory_info("CPU:0")["current"]


class Runtime:
    """TensorFlow's memory figures, read only once the program itself has initialised the runtime."""

    EXCERPT = 4000

    def __init__(self, device: str, reserve: Reserve) -> None:
        self._reserve = reserve
        self.device: str | None = {"cpu": HOST, "gpu": "GPU:0"}.get(device)
        self.problem: str | None = None

    @property
    def context(self) -> Any:
        """The eager context if it is initialised, else None: asking must not initialise it."""
        module = sys.modules.get("tensorflow.python.eager.context")
        context = getattr(module, "_context", None)
        return context if getattr(context, "_initialized", False) else None

    def live(self) -> tuple[int, int] | None:
        """Current and peak bytes of the tensor allocator, or None before the runtime is initialised."""
        context = self.context
        if context is None or self.problem or self._reserve.busy:
            return None
        if self.device is None:
            self.device = "GPU:0" if context.num_gpus() else HOST
        try:
            info = context.get_memory_info(self.device)
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"[: self.EXCERPT]
            return None
        held = self._reserve.held
        return max(0, int(info["current"]) - held), max(0, int(info["peak"]) - held)

    def reset(self) -> None:
        """Start the peak again from what is live now."""
        if self.live() is not None:
            self.context.reset_memory_stats(self.device)
            if self.beside() is not None:
                self.context.reset_memory_stats(HOST)

    def beside(self) -> tuple[int, int] | None:
        """Current and peak bytes of tensors in the machine's own memory, where `live` is about a card; else None."""
        if self.context is None or self.device in (None, HOST):
            return None
        try:
            info = self.context.get_memory_info(HOST)
        except Exception:  # its allocator counts only where that was asked for before it was made
            return None
        return int(info["current"]), int(info["peak"])

    def gpu_options(self) -> dict[str, Any] | None:
        """What TensorFlow would tell the GPU allocator, from its own Python code; None where it cannot say."""
        module = sys.modules.get("tensorflow.python.eager.context")
        context = getattr(module, "_context", None)
        if context is None or getattr(context, "_physical_devices", None) is None:
            return None
        if not any(device.device_type == "GPU" for device in context._physical_devices):
            return None
        try:
            options = context._compute_gpu_options()
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"[: self.EXCERPT]}
        return {
            "allow_growth": bool(options.allow_growth),
            "visible_device_list": options.visible_device_list,
            "memory_limits_mb": [
                limit for virtual in options.experimental.virtual_devices for limit in virtual.memory_limit_mb
            ],
        }


class Hooks(NamedTuple):
    """What must be in place before TensorFlow is imported."""

    runtime: Runtime
    traces: Traces


def hook(request: dict[str, Any]) -> Hooks:
    """The hooks of one run, or of all runs of a process that forks one for each."""
    return Hooks(Runtime(request.get("device", "auto"), Reserve(request.get("reserve", 0))), Traces())


def versions() -> dict[str, Any]:
    """Versions of what was imported, without importing anything."""
    names = ("tensorflow", "keras", "tf_keras", "numpy")
    found = {name: getattr(sys.modules.get(name), "__version__", None) for name in names}
    known = {name: version[:LONGEST] for name, version in found.items() if isinstance(version, str)}
    return {"python": sys.version.split()[0], **known}
