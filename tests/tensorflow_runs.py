"""Runs many small programs under one imported TensorFlow: a process of its own forks one child for each of them.

    python tensorflow_runs.py REQUEST.json RESULT.json

A request is a list of `{"source": text, "gpus": number of simulated cards}`. For each program the result holds
`error` (`Type: message`, or null), `reports`: the bytes of what the program gave to `report(name, value)`, and `peak`:
the most that the tensor allocator has held.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SECONDS = 300


def run_programs(folder: Path, programs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run the programs, each in a child of one process that imports TensorFlow once; `folder` is for its files."""
    request, result = folder / "request.json", folder / "result.json"
    request.write_text(json.dumps(programs))
    environment = {
        **os.environ,
        "TF_CPU_ALLOCATOR_USE_BFC": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
    }
    command = [sys.executable, __file__, str(request), str(result)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(result.read_text())
    assert len(found) == len(programs)
    return found


def _child(program: dict[str, Any], write: int) -> None:
    """Run one program and write what came of it into a pipe."""
    import numpy as np
    import tensorflow as tf

    from tfmemlint.verify.child.runtime import simulate_gpus

    reports: dict[str, int] = {}
    answer: dict[str, Any] = {"error": None, "reports": reports}

    def live(kind: str = "current") -> int:
        return int(tf.config.experimental.get_memory_info("CPU:0")[kind])

    def report(name: str, value: Any) -> None:
        """Note the bytes of an array's or a tensor's data."""
        reports[name] = int(np.asarray(value).nbytes)

    names = {"__name__": "__main__", "report": report}
    if program.get("gpus"):
        simulate_gpus(program["gpus"])
    try:
        exec(compile(program["source"], "program.py", "exec"), names)
        answer["peak"] = live("peak")
    except BaseException as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    os.write(write, json.dumps(answer).encode())
    os._exit(0)


def main(request: str, result: str) -> None:
    import keras
    import tensorflow as tf

    assert keras.__version__ and tf.__version__
    answers = []
    for program in json.loads(Path(request).read_text()):
        read, write = os.pipe()
        child = os.fork()  # harmless: nothing has started the runtime in this process
        if child == 0:
            _child(program, write)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            text = pipe.read()
        os.waitpid(child, 0)
        answers.append(json.loads(text) if text else {"error": "the process died", "reports": {}})
    Path(result).write_text(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
