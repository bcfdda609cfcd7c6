"""The file in which a measured program reports, which that program owns: whatever lies there, it is read and judged."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from ..case import Broken, Case, Kind

_READER = "tfmemlint.verify.runs"
_SPECIAL = ("fifo", "folder", "link to /dev/zero", "link to itself", "nothing", "link to a folder", "sparse", "socket")
_NUMBERS = (0, -1, 1, 1.5, 10**400, 2**63, -(2**63), 1e308, True, None, "5", [], {})
_KEYS = ("status", "peak_bytes", "seconds", "message", "samples", "key", "findings", "devices", "error", "values")


def make(chance: Random, number: int) -> Case | None:
    """Something special, or bytes that are nearly a report."""
    if importlib.util.find_spec(_READER) is None:
        return None
    if not chance.randrange(6):
        place: dict[str, str] = {"special": chance.choice(_SPECIAL)}
    else:
        place = {"bytes": base64.b64encode(_report(chance)).decode()}
    return Case("results.json", json.dumps(place).encode())


def _report(chance: Random) -> bytes:
    match chance.randrange(6):
        case 0:
            return chance.choice([b"[", b'{"a":', b'"']) * chance.choice([1, 1000, 300_000])
        case 1:
            return chance.randbytes(chance.randrange(200))
        case _:
            table = {chance.choice(_KEYS): _value(chance, 3) for _ in range(chance.randrange(6))}
            table["status"] = chance.choice(["ok", "crash", "timeout", "memory", 5, None])
            data = json.dumps(table).encode()
            replaced = {b"1.5": chance.choice([b"NaN", b"Infinity", b"1e999", b"-0", b"1" * 5000])}
            for old, new in replaced.items():
                data = data.replace(old, new)
            return data[: chance.randrange(len(data))] if not chance.randrange(5) else data


def _value(chance: Random, depth: int) -> Any:
    match chance.randrange(6 if depth else 4):
        case 0 | 1:
            return chance.choice(_NUMBERS)
        case 2:
            return chance.choice(["", "\0", "\ud800", "\x1b[31m", "a" * 5000, "ok"])
        case 3:
            return chance.random() * 10 ** chance.randrange(20)
        case 4:
            return [_value(chance, depth - 1) for _ in range(chance.randrange(4))]
        case _:
            return {chance.choice(_KEYS): _value(chance, depth - 1) for _ in range(chance.randrange(4))}


def check(case: Case) -> None:
    """Reading it ends, raises nothing and gives one of the answers that there are."""
    place = json.loads(case.data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "result.json")
        _put(path, place)
        run = importlib.import_module(_READER).read_result(path)
        if not isinstance(run.status, str) or not isinstance(run.message, str):
            raise Broken("a report is read that says nothing")


def _put(path: Path, place: dict[str, str]) -> None:
    special = place.get("special")
    if special is None:
        path.write_bytes(base64.b64decode(place["bytes"]))
    elif special == "fifo":
        os.mkfifo(path)
    elif special == "folder":
        path.mkdir()
    elif special.startswith("link"):
        path.symlink_to({"link to /dev/zero": "/dev/zero", "link to a folder": "/"}.get(special, path.name))
    elif special == "sparse":
        with path.open("wb") as stream:
            stream.truncate(1 << 36)
    elif special == "socket":
        os.mknod(path, 0o140600)


KIND = Kind("results", make, check, cpu_seconds=20, memory_bytes=1 << 30)
