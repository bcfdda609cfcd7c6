"""What compare.py starts in each checkout, with that checkout's Python; it imports nothing of this package."""

from __future__ import annotations

import gc
import importlib
import json
import sys
import time
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Where checkouts of different ages have what is measured.
_LINTER = ("tfmemlint.linter", "tfmemlint.lint.linter", "tfmemlint.lint")
_CONFIG = ("tfmemlint.config", "tfmemlint.config.settings")


def work() -> None:
    """Answer each path on standard input with a line of JSON, the first line being where the package lies."""
    import libcst as cst

    import tfmemlint

    answers = sys.stdout
    sys.stdout = sys.stderr
    sys.setrecursionlimit(20_000)
    linter = _first("Linter", _LINTER)(_first("Config", _CONFIG)())
    linter.lint(b"import tensorflow as tf\nds = tf.data.Dataset.range(3).repeat().cache()\n", "warm.py")
    gc.collect()
    gc.freeze()  # what the measured runs share is not for their collections to walk
    print(json.dumps(tfmemlint.__path__[0]), file=answers, flush=True)
    for line in sys.stdin:
        path = Path(json.loads(line))
        try:
            with tokenize.open(path) as stream:
                text = stream.read()
            data = path.read_bytes()
            parse, _ = timed(lambda text=text: cst.parse_module(text))  # type: ignore[misc]
        except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError, RecursionError):
            print("null", file=answers, flush=True)
            continue
        lint, result = timed(lambda data=data, path=path: linter.lint(data, str(path)))  # type: ignore[misc]
        print(json.dumps(None if result.skipped else (parse, lint)), file=answers, flush=True)


def _first(name: str, modules: Sequence[str]) -> Any:
    for module in modules:
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    sys.exit(f"no {name} in {', '.join(modules)}")


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of one run, no garbage of others in it, and what it gave."""
    gc.collect()
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


if __name__ == "__main__":
    work()
