"""Files of the Pythons and packages that are installed, as they are and with calls renamed to TensorFlow's API."""

from __future__ import annotations

import keyword
import re
import tempfile
import time
from functools import cache
from pathlib import Path
from random import Random

import libcst

from ..case import Broken, Case, Kind
from ..checks import linter, sound
from ..programs import installed, of_robustness

_CALL = re.compile(rb"(?<!def )(?<!class )(?P<dot>\.?)(?<![\w])(?P<name>[A-Za-z_]\w*)(?=\()")
_SLOW, _ENOUGH = 10, 2.0
"""Linting may take this many times what libcst takes to parse, or this many seconds."""
_LARGEST = 1 << 20
_END = b"\nimport tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n"
"""Has something to report, for which the places of all that stands before are worked out."""


@cache
def _names() -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Names of TensorFlow for which rules wake, and their last parts, which are those of methods."""
    handlers = [handler for rule in linter().rules for handler in rule.handlers if handler.fact is None]
    names = sorted({name for handler in handlers for name in handler.names})
    functions = [name.encode() for name in names]
    return tuple(functions), tuple(sorted({name.rpartition(b".")[2] for name in functions}))


def make(chance: Random, number: int) -> Case | None:
    """A file, in every other input with a part of its calls renamed."""
    paths = installed()
    path = paths[number // 2 % len(paths)]
    data = path.read_bytes()
    if len(data) > _LARGEST:
        return None
    if number % 2:
        functions, methods = _names()
        share = chance.choice([0.1, 0.5, 0.9])

        def renamed(found: re.Match[bytes]) -> bytes:
            if keyword.iskeyword(found["name"].decode()) or chance.random() > share:
                return found[0]
            return b"." + chance.choice(methods) if found["dot"] else chance.choice(functions)

        data = _CALL.sub(renamed, data)
    return Case("library.py", data + _END)


def check(case: Case) -> None:
    """No rule fails, places are those that Python knows, and the time is a multiple of parsing's."""
    library = of_robustness("library")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, case.name)
        path.write_bytes(case.data)
        for line in library.troubles(path) if library else ():
            raise Broken(line.removeprefix(f"{path}: "))
    started = time.thread_time()
    result = sound(case.data, case.path)
    took = time.thread_time() - started
    if result.source is not None and took > _ENOUGH:
        started = time.thread_time()
        try:
            libcst.parse_module(result.source.text)
        except libcst.ParserSyntaxError:
            return
        parsing = time.thread_time() - started
        if took > _SLOW * parsing:
            raise Broken(
                f"slow: linting takes more than {_SLOW} times what parsing does\n{took:.1f} s, {parsing:.1f} s"
            )


KIND = Kind("library", make, check, cpu_seconds=120)
