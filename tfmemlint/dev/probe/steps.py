"""Measures training steps of scripts, each in a process of its own, for the tables that estimates are tested against.

A row holds bytes: of `variables` with their slots, of one batch of data (`input_batch`), at the peak of a step as its
ops ask for them (`step_requested`), all three together (`device_requested`), and the same as the allocator hands them
out (`device_chunks`). `inter_op` is how many ops may run at a time, 0 for as many as TensorFlow takes by itself. Ops
that do not wait for one another run in the order of the moment, so that figures move from run to run, most where one
large buffer outweighs all others.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tfmemlint.dev.probe.run import ENVIRONMENT, ProbeError

COLUMNS = (
    "script",
    "batch",
    "inter_op",
    "variables",
    "input_batch",
    "step_requested",
    "device_requested",
    "device_chunks",
    "peak_op",
)
FOLDER = Path("tests/estimate")
TABLES = {"truth.tsv": "scripts", "further.tsv": "scripts_further"}
"""Table -> the folder of its scripts."""

# On a CPU, only this allocator counts what it hands out; it is that of GPUs. Without oneDNN, which TensorFlow leaves
# out on some processors, each gradient of a convolution unrolls its input in some 30 MB beside it.
_ALLOCATOR = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "TF_ENABLE_ONEDNN_OPTS": "1"}

_CARD = {"CUDA_VISIBLE_DEVICES": "0"}


class Measured(NamedTuple):
    """A row of a table, the versions it was measured with, and what was alive at the peak, largest first."""

    row: dict[str, Any]
    versions: str
    alive: list[tuple[int, str, str]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures one script, or all runs of the tables; 0 when it is done, 2 when a run failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tfmemlint.dev probe-estimate",
        description="Measure what a training step takes, under the TensorFlow that is installed.",
        epilog="Without a script all runs of the tables in tests/estimate are measured, and the tables written again.",
    )
    parser.add_argument("script", nargs="?", type=Path, help="a script that trains; its row goes to standard output")
    parser.add_argument("--batch", type=int, help="takes the place of the script's BATCH_SIZE")
    parser.add_argument("--inter-op", type=int, default=0, metavar="N", help="how many ops may run at a time")
    parser.add_argument("--gpu", action="store_true", help="on the first graphics card, whose memory is counted")
    parser.add_argument("--jit", action="store_true", help="compiled by XLA")
    parser.add_argument("--alive", type=int, default=0, metavar="N", help="name the N largest buffers at the peak")
    options = parser.parse_args(arguments)
    if options.script is None and any((options.batch, options.inter_op, options.alive, options.gpu, options.jit)):
        parser.error("--batch, --inter-op, --alive, --gpu and --jit belong to a script")
    if options.script is not None and not options.script.is_file():
        parser.error(f"{options.script} is no file")
    try:
        if options.script is None:
            _write_tables()
        else:
            found = measured(options.script, options.batch, options.inter_op, gpu=options.gpu, jit=options.jit)
            _print(found, options.alive)
    except ProbeError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def measured(
    script: Path, batch: int | None = None, inter_op: int = 0, *, gpu: bool = False, jit: bool = False
) -> Measured:
    """What a step of `script` takes now, at its own batch size or another one; on the first graphics card with `gpu`,
    compiled by XLA with `jit`. Raises ProbeError."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, "-m", "tfmemlint.dev.probe.step_child", str(script.resolve()), str(result)]
        command += [f"--inter-op={inter_op}"] if inter_op else []
        command += [] if batch is None else [f"--batch={batch}"]
        command += ["--gpu"] * gpu + ["--jit"] * jit
        root = str(Path(__file__).parents[3])
        path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT, **_ALLOCATOR, **(_CARD if gpu else {}), "PYTHONPATH": path},
            text=True,
            capture_output=True,
        )
        if done.returncode or not result.exists():
            last = "\n".join(done.stderr.splitlines()[-15:])
            raise ProbeError(f"{script}: no step was measured, exit status {done.returncode}:\n{last}")
        figures = json.loads(result.read_text(encoding="utf-8"))
    return Measured(
        _row(script, inter_op, figures, gpu),
        f"TensorFlow {figures['tensorflow']}, Keras {figures['keras']}, {os.cpu_count()} processors",
        figures["alive"],
    )


def _row(script: Path, inter_op: int, figures: dict[str, Any], gpu: bool) -> dict[str, Any]:
    # A card gets the batch in the step itself, from the machine's memory.
    beside = figures["variables"] + (0 if gpu else figures["input_batch"])
    return {
        "script": script.name,
        "inter_op": inter_op,
        **{column: figures[column] for column in COLUMNS if column in figures},
        "device_requested": beside + figures["step_requested"],
        "device_chunks": beside + figures["step_chunks"],
    }


def _print(found: Measured, alive: int) -> None:
    print(found.versions, file=sys.stderr)
    sys.stdout.writelines(_lines([found.row]))
    for requested, op, shape in found.alive[:alive]:
        print(f"  {requested:>12}  {shape:<24}  {op}")


def _write_tables() -> None:
    for table, scripts in TABLES.items():
        path = FOLDER / table
        with path.open(newline="", encoding="utf-8") as stream:
            runs = [*csv.DictReader(stream, delimiter="\t")]
        rows = []
        for run in runs:
            found = measured(FOLDER / scripts / run["script"], int(run["batch"]), int(run["inter_op"]))
            print(f"{run['script']} at {run['batch']}: {found.versions}", file=sys.stderr)
            rows.append(found.row)
        path.write_text("".join(_lines(rows)), encoding="utf-8")


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    yield "\t".join(COLUMNS) + "\n"
    for row in rows:
        yield "\t".join(str(row[column]) for column in COLUMNS) + "\n"
