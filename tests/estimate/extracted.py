"""Training steps from the JSON of a built Keras model's graph, to compare estimates with what was measured."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmemlint.estimate.step import Applied, Graph, Loss, Optimizer, Pass, Tensor, TrainingStep


def load(path: Path, batch: int) -> TrainingStep:
    """The step of a program whose graph was extracted at some batch, at another one."""
    facts = json.loads(path.read_text())
    given = facts["batch"]
    passes = [_pass(phase, given) for phase in facts["phases"]]
    last = facts["phases"][-1]
    looked_up = {tensor for op in last["graph"]["ops"] if op["cls"] == "Embedding" for tensor in op["in"]}
    tensors = passes[-1].graph.tensors
    data = [replace(tensors[i], dtype="int64") if i in looked_up else tensors[i] for i in last["graph"]["inputs"]]
    data += [Tensor((None, *shape[1:]), dtype) for shape, dtype in last.get("y", ())]
    dtypes = {applied.dtype for each in passes for applied in each.graph.applied}
    precision = next((f"mixed_{dtype}" for dtype in dtypes if dtype in ("float16", "bfloat16")), "float32")
    return TrainingStep(1, "fit", path.stem, tuple(passes), tuple(data), batch, precision)


def _pass(phase: dict[str, Any], given: int) -> Pass:
    graph = phase["graph"]
    tensors = {int(i): _tensor(shape, dtype, given) for i, (shape, dtype) in graph["tensors"].items()}
    applied = tuple(_applied(op, number) for number, op in enumerate(graph["ops"]))
    loss, optimizer = phase.get("loss"), phase.get("optimizer")
    names = {"vae": "binary_crossentropy"}
    frozen = frozenset(op["ident"] for op in graph["ops"] if op.get("notrain"))
    return Pass(
        Graph(tensors, applied, tuple(graph["inputs"]), tuple(graph["outputs"])),
        (Loss(names.get(loss["name"], _snake(loss["name"])), loss["from_logits"]),) if loss else (),
        Optimizer(optimizer["cls"], {k: v for k, v in optimizer.items() if k != "cls"}) if optimizer else None,
        not phase.get("forward"),
        frozen,
    )


def _tensor(shape: list[int], dtype: str, given: int) -> Tensor:
    return Tensor((None, *shape[1:]), dtype, shape[0] // given) if shape else Tensor((), dtype)


def _applied(op: dict[str, Any], number: int) -> Applied:
    layer = "ident" in op
    arguments = {k: tuple(v) if isinstance(v, list) else v for k, v in op["cfg"].items()}
    if op["cls"] == "Embedding":
        arguments["input_dim"], arguments["output_dim"] = op["w"][0][0]
    if op["cls"] == "Rescaling":
        arguments.pop("scale", None)
    inner = None
    if "inner" in op:
        inside = {k: v for k, v in op["inner"].items() if k not in ("cls", "w")}
        inner = Applied(op["inner"]["cls"], op["name"], 0, op["ident"], (), (), inside)
    return Applied(
        op["cls"] if layer else _snake(op["cls"]),
        op["name"],
        number + 1,
        op.get("ident", -number),
        tuple(op["in"]),
        tuple(op["out"]),
        arguments,
        inner,
        op.get("trainable", True),
        None,  # the extraction has the default of `call` here, not what is passed
        op.get("dtype", "float32"),
        op["remat"],
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
