"""What the figures depend on beside the code: the machine and the versions, without a name or a path of it."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from benchmarks.parts import CORES
from benchmarks.processes import counts_instructions


def described() -> dict[str, str]:
    """Words about this machine, for the page."""
    return {
        "processor": processor(),
        "cores": str(CORES),
        "memory": f"{_memory() / 2**30:.0f} GiB",
        "system": platform.system(),
        "python": platform.python_version(),
        "load": load(),
        "instructions": "yes" if counts_instructions() else "no",
    }


def load() -> str:
    """Processes that wanted to run in the last minute, on average."""
    return f"{os.getloadavg()[0]:.1f}"


def processor() -> str:
    """The processor's name, or its architecture where the system does not say it."""
    try:
        found = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text("utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def _memory() -> int:
    """Bytes of memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
