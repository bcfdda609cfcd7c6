"""Which Python runs the programs, and whether it can."""

from __future__ import annotations

import errno
import os
import sys

from tfmemlint.verify.run import sandbox
from tfmemlint.verify.run.watch import Limits
from tfmemlint.verify.run.workspaces import workspace

HAS_TENSORFLOW = """
import importlib.util, sys
sys.path += sys.argv[1:]
sys.exit(0 if importlib.util.find_spec("tensorflow") else 9)
"""


class MeasureError(Exception):
    """Nothing can be measured here; the text says why and what to do, in one line."""


def check_system() -> None:
    """Raises MeasureError where this system cannot limit and measure processes."""
    if sys.platform == "win32":
        raise MeasureError("programs can be measured on Linux and macOS only")


def interpreter(python: str) -> str:
    """The absolute path of an interpreter that was named as in a shell. Raises MeasureError where there is none."""
    path = os.path.abspath(python) if os.path.dirname(python) else sandbox.find_tool(python)
    if path is None or not os.path.exists(path):
        raise MeasureError(f"cannot start {python}: {os.strerror(errno.ENOENT)}")
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        raise MeasureError(f"cannot start {python}: {os.strerror(errno.EACCES)}")
    return path


def check_interpreter(python: str, timeout: float = 120.0) -> None:
    """Raises MeasureError with one clear line where `python` cannot be run or has no TensorFlow.

    It is run as programs are: it, and what it imports at its start, may belong to the project.
    """
    check_system()
    path, libraries = interpreter(python), sandbox.folders("PYTHONPATH")
    with workspace() as work:
        command = [path, "-I", "-B", "-c", HAS_TENSORFLOW, *libraries]
        try:
            done = sandbox.run(command, work=work, limits=Limits(wall=timeout), needed=libraries)
        except OSError as error:
            raise MeasureError(f"cannot start {python}: {error.strerror}") from error
    if done.code == 9:
        raise MeasureError(f"{python} has no TensorFlow; name an interpreter that has one with --python")
    if done.reason:
        said = done.output.strip()[-200:] or done.reason
        raise MeasureError(f"{python} is not a working Python: {said}")
