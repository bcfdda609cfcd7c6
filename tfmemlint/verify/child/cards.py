"""Who makes the devices of the graphics cards, with which options, and what is raised; loaded by `main.py`.

The allocator of a card is made once for a process, with the options of whoever asks for its devices first: eager
TensorFlow, a session, a probe that lists local devices. On simulated cards that is only written down.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import types
from typing import Any

GROWS, VISIBLE = "TF_FORCE_GPU_ALLOW_GROWTH", "CUDA_VISIBLE_DEVICES"
READ = (GROWS, VISIBLE, "TF_GPU_ALLOCATOR", "TF_CPU_ALLOCATOR_USE_BFC")
"""Variables that are read when the devices are made."""
MOST_RAISED, EXCERPT = 20, 300


class Cards:
    """The first that makes devices in a program with simulated cards."""

    def __init__(self) -> None:
        self.made_by = ""
        self.whole = False
        self._read: dict[str, str | None] = {}
        self._installed = False

    def install(self) -> None:
        """Watch all that makes devices. The variable that hides the real cards here is none of the program's."""
        os.environ.pop(VISIBLE, None)
        context: Any = importlib.import_module("tensorflow.python.eager.context").Context
        session: Any = importlib.import_module("tensorflow.python.client.session").BaseSession
        probes: Any = importlib.import_module("tensorflow.python.client.device_lib")
        ensure, make, probe = context.ensure_initialized, session.__init__, probes.list_local_devices

        @functools.wraps(ensure)
        def ensure_initialized(it: Any) -> None:
            if not it._initialized:
                self._by_context(it)
            ensure(it)

        @functools.wraps(make)
        def __init__(it: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
            self._by_session("a session", config)
            make(it, target=target, graph=graph, config=config)

        @functools.wraps(probe)
        def list_local_devices(session_config: Any = None) -> Any:
            self._by_session("a probe", session_config)
            return [*probe(session_config), *_listed()]

        ask = context.get_device_details

        @functools.wraps(ask)
        def get_device_details(it: Any, device: Any) -> Any:
            if getattr(device, "device_type", "") != "GPU":
                return ask(it, device)
            return {"device_name": "simulated", "compute_capability": (8, 0)}

        context.get_device_details = get_device_details
        context.ensure_initialized, session.__init__ = ensure_initialized, __init__
        probes.list_local_devices = list_local_devices
        self._installed = True

    def begin(self) -> None:
        """Count from here on: what has made devices before was not the program."""
        self.made_by, self.whole = "", False
        self._read.clear()

    def _by_context(self, context: Any) -> None:
        cards = [device for device in context._visible_device_list if device.device_type == "GPU"]
        try:
            options = context._compute_gpu_options()
        except Exception:  # settings that contradict each other, which is raised to the program
            return
        limits = [limit for each in options.experimental.virtual_devices for limit in each.memory_limit_mb]
        self._note("eager TensorFlow", bool(cards), options.allow_growth, bool(limits))

    def _by_session(self, who: str, config: Any) -> None:
        options = getattr(config, "gpu_options", None)
        none = config is not None and "GPU" in config.device_count and not config.device_count["GPU"]
        limited = options is not None and 0 < options.per_process_gpu_memory_fraction < 1
        if not none:
            self._note(who, True, options is not None and options.allow_growth, limited)

    def _note(self, who: str, any_card: bool, grows: bool, limited: bool) -> None:
        if self.made_by:
            return
        said, visible = os.environ.get(GROWS), os.environ.get(VISIBLE)
        grows = said == "true" or (grows and said != "false")
        self.made_by = who
        self.whole = any_card and not grows and not limited and (visible is None or visible.strip() not in ("", "-1"))
        self._read = {name: os.environ.get(name) for name in READ}

    def report(self) -> dict[str, Any] | None:
        """Who was first, whether cards are taken whole, and the variables that were set too late to be read."""
        if not self._installed:
            return None
        late = [name for name, value in self._read.items() if os.environ.get(name) != value]
        return {"made_by": self.made_by, "whole": self.whole, "late": late}


def _listed() -> list[Any]:
    """The simulated cards as a probe lists them, so that `is_gpu_available()` finds them too."""
    made: Any = importlib.import_module("tensorflow.core.framework.device_attributes_pb2").DeviceAttributes
    cards = sys.modules["tensorflow"].config.list_physical_devices("GPU")
    said = "device: {0}, name: simulated, pci bus id: 0000:00:0{0}.0, compute capability: 8.0"
    names = ((f"/device:GPU:{number}", said.format(number)) for number in range(len(cards)))
    return [made(name=name, device_type="GPU", physical_device_desc=words) for name, words in names]


class Raised:
    """The exceptions that pass through the program's own files, caught or not, each once."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(os.path.abspath(folder), "")
        self.texts: dict[str, None] = {}

    def watch(self) -> None:
        """Look at this thread from now on."""
        sys.settrace(self._enter)

    def _enter(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(self._folder):
            return None
        frame.f_trace_lines = False
        return self._inside

    def _inside(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "exception" and len(self.texts) < MOST_RAISED:
            try:
                said = str(argument[1])[:EXCERPT]
            except Exception:  # a `__str__` of the program's own
                said = ""
            self.texts[f"{argument[0].__name__}: {said}"] = None
        return self._inside
