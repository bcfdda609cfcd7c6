"""The file in which a measured program reports, which that program owns: whatever lies there, it is read and judged."""

from __future__ import annotations

import base64
import importlib.util
import json
import math
import os
import socket
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from ..case import Broken, Case, Kind

READER = "tfmemlint.verify.run.runs"
KEY = "the key"
MOST_SECONDS, MOST_BYTES = 10.0, 1 << 30
SPECIAL = ("fifo", "folder", "/dev/zero", "/dev/stdin", "/", "itself", "nothing", "sparse", "socket")
BYTES = ("peak_bytes", "live_bytes", "rss_start", "rss_peak", "rss_end")
FIELDS = (*BYTES, "status", "error", "initialized", "device", "allocator_problem", "device_used_peak", "traces",
          "value", "traces_by_name", "seconds", "reason", "marks", "timeline", "lines", "gpu_options", "versions",
          "notes", "output", "key")  # fmt: skip
NUMBERS = (0, -1, 1, 1.5, 10**400, 2**63, -(2**63), 1e308, True, None, "5", 7.0, MOST_BYTES, MOST_BYTES + 1)


def make(chance: Random, number: int) -> Case | None:
    """Something special, or bytes that are nearly a report."""
    if importlib.util.find_spec(READER) is None:
        return None
    if not chance.randrange(6):
        place = {"special": chance.choice(SPECIAL)}
    else:
        place = {"base64": base64.b64encode(_report(chance)).decode()}
    return Case("results.json", json.dumps(place).encode())


def _report(chance: Random) -> bytes:
    match chance.randrange(8):
        case 0:
            return chance.choice([b"[", b'{"marks":', b'"', b'{"marks":[']) * chance.choice([1, 1000, 300_000])
        case 1:
            return chance.randbytes(chance.randrange(200))
    table: dict[str, Any] = {"status": "ok", "key": KEY}
    for _ in range(chance.randrange(4)):
        name = chance.choice(FIELDS)
        table[name] = chance.choice(NUMBERS) if name in BYTES and chance.randrange(3) else _value(chance, 3)
    data = json.dumps(table).encode().replace(b"7.0", chance.choice([b"NaN", b"1e999", b"-0", b"1" * 5000, b"-1e-9"]))
    return data[: chance.randrange(len(data))] if not chance.randrange(5) else data


def _value(chance: Random, depth: int) -> Any:
    match chance.randrange(6 if depth else 4):
        case 0 | 1:
            return chance.choice(NUMBERS)
        case 2:
            return chance.choice(["", "\0", "\ud800", "\x1b[31m", "a" * 6000, "ok", "error", "CPU:0"])
        case 3:
            return chance.random() * 10 ** chance.randrange(20)
        case 4:
            return [_value(chance, depth - 1) for _ in range(chance.choice([1, 2, 4, 5, 11_000 // 10**depth]))]
        case _:
            keys = ("type", "message", "lines", "file", "line", "a")
            return {chance.choice(keys): _value(chance, depth - 1) for _ in range(chance.randrange(4))}


def check(case: Case) -> None:
    """Reading it ends, raises nothing and believes nothing that cannot be."""
    runs = importlib.import_module(READER)
    place = json.loads(case.data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        _put(path, place)
        run = runs.read_result(path, runs.Bounds(MOST_SECONDS, MOST_BYTES, MOST_BYTES), KEY)
    if run.status not in ("ok", "error", runs.CRASH) or len(run.reason) > 10_000:
        raise Broken("a report is believed that says nothing")
    figures = [(run.seconds, MOST_SECONDS + 5), *((getattr(run, name), MOST_BYTES) for name in BYTES)]
    if any(not (math.isfinite(figure) and 0 <= figure <= most) for figure, most in figures if figure is not None):
        raise Broken("a figure is believed that cannot be")
    if "special" in place and run.status != runs.CRASH:
        raise Broken("a report is believed that is no file")


def _put(path: Path, place: dict[str, str]) -> None:
    match place.get("special"):
        case None:
            path.write_bytes(base64.b64decode(place["base64"]))
        case "fifo":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "sparse":
            with path.open("wb") as stream:
                stream.truncate(1 << 36)
        case "socket":
            os.chdir(path.parent)  # the path itself may be too long for one
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(path.name)
        case "nothing":
            pass
        case target:
            path.symlink_to(path.name if target == "itself" else target)


KIND = Kind("results", make, check, cpu_seconds=20, memory_bytes=1 << 30)
