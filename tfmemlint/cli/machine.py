"""What `verify` finds on this machine: TensorFlow, graphics cards and containment, as `doctor` says it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator

from tfmemlint.verify.run.interpreters import MeasureError, interpreter

_SECONDS = 60.0
_PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-macos", "tf-nightly", "tf_nightly-cpu")
_ASKED = """
import importlib.metadata, importlib.util, sys
sys.path += sys.argv[2:]
if importlib.util.find_spec("tensorflow") is None:
    sys.exit(9)
for name in sys.argv[1].split(","):
    try:
        sys.exit(print(name, importlib.metadata.version(name)))
    except importlib.metadata.PackageNotFoundError:
        pass
print("tensorflow, unknown version")
"""
"""Looks for TensorFlow and its version, and imports nothing of it."""

Said = tuple[str, bool, str]
"""What was looked at, whether it is there, and words on it."""


def machine(python: str) -> Iterator[Said]:
    """TensorFlow of this interpreter, the graphics cards, and how programs are contained."""
    yield "TensorFlow", *_tensorflow(python)
    yield "graphics card", *_cards()
    yield "containment", *_containment()


def _tensorflow(python: str) -> tuple[bool, str]:
    if sys.platform == "win32":
        return False, "programs can be measured on Linux and macOS only"
    from tfmemlint.verify.run import sandbox
    from tfmemlint.verify.run.watch import Limits
    from tfmemlint.verify.run.workspaces import workspace

    try:
        path, libraries = interpreter(python), sandbox.folders("PYTHONPATH")
        with workspace() as work:
            command = [path, "-I", "-B", "-c", _ASKED, ",".join(_PACKAGES), *libraries]
            done = sandbox.run(command, work=work, limits=Limits(wall=_SECONDS), needed=libraries)
    except (MeasureError, OSError) as error:
        return False, str(error)
    if done.code == 9:
        return False, f"{path} has none; --python names an interpreter that has"
    if done.reason:
        return False, f"{path} is not a working Python: {done.output.strip()[-200:] or done.reason}"
    return True, f"{done.output.strip()} of {path}"


def _containment() -> tuple[bool, str]:
    if sys.platform == "win32":
        return False, "none for this system; linting needs none"
    from tfmemlint.verify.run import sandbox

    level = sandbox.strongest_level()
    return level.isolated, "; ".join((level.value, *sandbox.gaps(level)))


def _cards() -> tuple[bool, str]:
    """The cards that NVIDIA's driver knows, asked through its library, or else through its command."""
    names = _by_library()
    if names is None:
        names = _by_command()
    return bool(names), "; ".join(names) if names else "none that NVIDIA's driver knows"


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def _by_library() -> list[str] | None:
    """Names and bytes of the cards; None where the driver's library is not there."""
    from tfmemlint.units import show_bytes

    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        if library.nvmlInit_v2():
            return None
        count = ctypes.c_uint()
        library.nvmlDeviceGetCount_v2(ctypes.byref(count))
        names = []
        for number in range(count.value):
            card, name, memory = ctypes.c_void_p(), ctypes.create_string_buffer(96), _Memory()
            if library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(number), ctypes.byref(card)):
                continue
            library.nvmlDeviceGetName(card, name, ctypes.c_uint(96))
            library.nvmlDeviceGetMemoryInfo(card, ctypes.byref(memory))
            names.append(f"{name.value.decode(errors='replace')} with {show_bytes(memory.total)}")
        library.nvmlShutdown()
        return names
    except (OSError, AttributeError):
        return None


def _by_command() -> list[str]:
    """The lines of `nvidia-smi -L`; none where it is not there or says nothing in time."""
    if sys.platform == "win32":
        return []
    from tfmemlint.verify.run.sandbox import find_tool

    tool = find_tool("nvidia-smi")
    if tool is None:
        return []
    try:
        done = subprocess.run([tool, "-L"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.startswith("GPU")]
