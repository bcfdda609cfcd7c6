"""How fast linting is, against parsing alone: the same files, one core, in one process.

    python -m benchmarks speed PATHS                 files and folders of yours
    python -m benchmarks speed --download DIR        pinned public packages, fetched with pip into DIR

Each file that uses TensorFlow is decoded, parsed with `libcst.parse_module`, and linted with the default rules, in
turns, several times; the fastest turn of each counts, in CPU seconds. Files that do not use TensorFlow are only counted
and timed in the last line. The result is the speed of linting in per cent of the speed of parsing. With `--at-least`
the exit code is 1 when it is lower. flake8, where it is installed, is timed on the same files with `--with-flake8`.
"""

from __future__ import annotations

import argparse
import gc
import io
import json
import sys
import time
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path

import libcst as cst

from benchmarks.corpora import fetched, python_files
from benchmarks.processes import Command, run
from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.text.prefilter import mentions_tensorflow

PINNED = (
    "gpflow==2.11.2", "keras-cv==0.9.0", "keras-tuner==1.4.8", "larq==0.14.0", "spektral==1.3.1",
    "tensorflow-recommenders==0.7.7", "tf-agents==0.19.0", "tf-models-official==2.20.0",
)  # fmt: skip


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 1 if linting is slower than `--at-least` asks for."""
    options = arguments(words)
    paths = options.paths + (downloaded(options.download) if options.download else [])
    programs, others = read(paths)
    if not programs:
        sys.exit("no file that uses TensorFlow in these paths")
    sys.setrecursionlimit(20_000)
    result = measure(programs, options.repeat)
    result["other_files"] = len(others)
    result["other_seconds"] = fastest(lambda: [mentions_tensorflow(data) for _, data in others], options.repeat)
    if options.with_flake8:
        result["flake8_seconds"] = flake8(programs)
    print(json.dumps(result, indent=2) if options.json else table(result))
    return 1 if result["percent"] < options.at_least else 0


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--download", type=Path, metavar="DIR", help="fetch the pinned packages into DIR")
    parser.add_argument("--repeat", type=int, default=3, help="turns for each file (default: 3)")
    parser.add_argument("--at-least", type=float, default=0, metavar="PERCENT", help="fail below this speed")
    parser.add_argument("--with-flake8", action="store_true", help="time flake8 on the same files")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(words)
    if not options.paths and not options.download:
        parser.error("give paths or --download DIR")
    return options


def downloaded(folder: Path) -> list[Path]:
    """The pinned packages' sources below `folder`."""
    return [fetched(requirement, folder / requirement.replace("==", "-")) for requirement in PINNED]


def read(paths: list[Path]) -> tuple[list[tuple[Path, bytes]], list[tuple[Path, bytes]]]:
    """The Python files below these paths: those that use TensorFlow and parse, and those that do not use it."""
    programs, others = [], []
    for path in python_files(paths):
        data = path.read_bytes()
        if not mentions_tensorflow(data):
            others.append((path, data))
            continue
        try:
            cst.parse_module(decoded(data))
        except (cst.ParserSyntaxError, SyntaxError, UnicodeDecodeError, RecursionError):
            continue
        programs.append((path, data))
    return programs, others


def decoded(data: bytes) -> str:
    """A program's text as libcst wants it."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def fastest(run: Callable[[], object], repeat: int) -> float:
    """CPU seconds of the fastest of several runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def measure(programs: list[tuple[Path, bytes]], repeat: int) -> dict[str, float]:
    """Seconds of parsing and of linting all programs, and how they compare."""
    linter = Linter(Config())
    linter.prepare()
    linter.lint(b"import tensorflow as tf\nds = tf.data.Dataset.range(3).repeat().cache()\n", "warm.py")
    gc.collect()
    gc.freeze()  # what the measured runs share is not for their collections to walk
    parsing = linting = 0.0
    findings = 0
    for path, data in programs:
        text = decoded(data)
        name = str(path)
        findings += len(linter.lint(data, name).findings)
        gc.collect()
        best = [float("inf"), float("inf")]
        for _ in range(repeat):
            best[0] = min(best[0], fastest(lambda text=text: cst.parse_module(text), 1))  # type: ignore[misc]
            best[1] = min(best[1], fastest(lambda data=data, name=name: linter.lint(data, name), 1))  # type: ignore[misc]
        parsing, linting = parsing + best[0], linting + best[1]
    lines = sum(data.count(b"\n") for _, data in programs)
    return {
        "files": len(programs),
        "lines": lines,
        "findings": findings,
        "parse_seconds": parsing,
        "lint_seconds": linting,
        "percent": 100 * parsing / linting,
    }


def flake8(programs: list[tuple[Path, bytes]]) -> float:
    """CPU seconds of flake8 with its own checks on these files, one process."""
    words = [sys.executable, "-m", "flake8", "--isolated", "--jobs=1", "--select=E,F,W", "--exit-zero", "--quiet"]
    return run(Command([*words, *(str(path) for path, _ in programs)])).cpu


def table(result: dict[str, float]) -> str:
    """The figures for people."""
    lines = result["lines"]
    rows = [
        f"{result['files']:.0f} files that use TensorFlow, {lines:.0f} lines, {result['findings']:.0f} findings",
        f"parse only  {result['parse_seconds']:8.2f} s  {lines / result['parse_seconds']:9.0f} lines/s",
        f"lint        {result['lint_seconds']:8.2f} s  {lines / result['lint_seconds']:9.0f} lines/s",
    ]
    if "flake8_seconds" in result:
        seconds = result["flake8_seconds"]
        rows.append(f"flake8      {seconds:8.2f} s  {lines / seconds:9.0f} lines/s")
    rows.append(f"linting runs at {result['percent']:.0f} % of the speed of parsing alone")
    if result["other_files"]:
        each = result["other_seconds"] / result["other_files"]
        rows.append(f"{result['other_files']:.0f} files without TensorFlow: {1e6 * each:.0f} µs each once read")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
