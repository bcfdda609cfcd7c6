"""Programs that are killed before one of the lines that write a file."""

from __future__ import annotations

import signal
import subprocess
import sys

_TRACE = """
import os, signal, sys
from tfmemlint.files import replace_file
from tfmemlint.fix import write

left = int(sys.argv.pop(1))

def trace(frame, event, argument):
    global left
    if frame.f_code.co_filename not in (write.__file__, replace_file.__file__):
        return None
    if event == "line":
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return trace

def traced(*arguments):
    sys.settrace(trace)
    try:
        write_atomically(*arguments)
    finally:
        sys.settrace(None)

write_atomically, write.write_atomically = write.write_atomically, traced
"""


def ends_before(lines: int, program: str, *arguments: str) -> bool:
    """Runs a program that is killed when it has passed this many lines of `write_atomically`; whether it ended before.

    A program that uses the function must look it up in its module.
    """
    done = subprocess.run([sys.executable, "-c", _TRACE + program, str(lines), *arguments], capture_output=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode == 0
