"""A server for programs that need no TensorFlow, so that it starts at once."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from tfmemlint.verify.run.measure import CHILD
from tfmemlint.verify.run.sandbox import Level
from tfmemlint.verify.run.server import Server
from tfmemlint.verify.run.watch import Limits, Outcome


def idle_server(level: Level, limits: Limits, needed: Sequence[str] = ()) -> Server:
    """A server that imports nothing; `needed` are paths that its programs must see."""
    return Server(
        sys.executable, {"preload": False}, limits=limits, extra={}, level=level, needed=[str(CHILD), *needed]
    )


def run_served(server: Server, source: str) -> tuple[Outcome, dict[str, Any] | None]:
    """How the program ended, and what it wrote of itself."""
    assert server.prepare()
    request = {"program": os.path.join(server.folder, "program.py"), "source": source, "preload": False}
    with tempfile.TemporaryFile() as result:
        outcome = server.run(request, result.fileno())
        result.seek(0)
        text = result.read()
    return outcome, json.loads(text) if text else None
