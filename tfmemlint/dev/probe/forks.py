"""Runs each call in a forked process of its own, so that it meets a TensorFlow that is imported and has done nothing.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from importlib import import_module
from typing import Any

SECONDS = 90
"""How long one call may take."""


def in_fork(function: Callable[[], Any]) -> Any:
    """The result of the function, run in a fork, as JSON brings it back; None where the fork died or took too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            signal.alarm(SECONDS)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            with os.fdopen(writing, "w") as stream:
                json.dump(function(), stream)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if status == 0 and text else None


def initialised() -> bool:
    """Whether TensorFlow's eager context has made its devices."""
    context = import_module("tensorflow.python.eager.context")._context
    return context is not None and context._context_handle is not None


def fake_gpu() -> Any:
    """A GPU that TensorFlow's Python side takes for a physical one."""
    context = import_module("tensorflow.python.eager.context")
    device = context.PhysicalDevice(name="/physical_device:GPU:0", device_type="GPU")
    own = context.context()
    own._initialize_physical_devices()
    own._physical_devices.append(device)
    own._visible_device_list.append(device)
    own._memory_growth_map[device] = None
    return device
