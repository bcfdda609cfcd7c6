from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Const,
    Dataset,
    File,
    Finding,
    Function,
    Node,
    Rule,
    Severity,
    on_call,
    parameters,
    walk,
)

PER_REPLICA = re.compile(r"per_(replica|gpu|worker|device|core)", re.IGNORECASE)
GLOBAL = re.compile(r"global.*batch|batch.*global", re.IGNORECASE)
STRATEGIES = ("Strategy", "MirroredStrategy", "MultiWorkerMirroredStrategy", "TPUStrategy", "experimental.TPUStrategy")


class PerReplicaBatch(Rule):
    """
    ## What it does
    Gives the advice to look at the batch size where a dataset that was batched with a size named "per replica" is
    distributed by `experimental_distribute_dataset`, which takes it for the global one.

    ## Why it costs memory
    The strategy splits each batch over its replicas: every replica gets a fraction of the size it was meant to have,
    and the memory of the devices stays unused.

    ## When not to use it
    When the name means something else.

    ## References
    - https://www.tensorflow.org/tutorials/distribute/input
    """

    code = "TFM904"
    summary = "a per-replica batch size is split again over the replicas"
    no_fix = "the learning rate depends on the batch size"
    severity = Severity.INFO
    default = False

    @on_call(*(f"tf.distribute.{owner}.experimental_distribute_dataset" for owner in STRATEGIES))
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        for ds in call.value_of(0).options:
            for step in ds.steps if isinstance(ds, Dataset) else ():
                size = step.call.arg("batch_size") if step.call is not None and step.name == "batch" else None
                if size is None or step.call is None:
                    continue
                related: list[tuple[Call | Node, str]] = [(step.call, "batched here")]
                if any(PER_REPLICA.search(name) for name in _size_names(size.expression, file, 2)):
                    yield self.finding(
                        call,
                        file,
                        "the batch size is a replica's, and distributing splits it again; batch with the global size",
                        related=related,
                    )
                    return
                if _multiplied_again(size.expression, file):
                    yield self.finding(
                        call,
                        file,
                        "the batch size is the global one times the replicas: each replica gets a global batch",
                        related=related,
                    )
                    return

    @on_call(
        *(
            f"tf.distribute.{owner}.{name}"
            for owner in STRATEGIES
            for name in ("distribute_datasets_from_function", "experimental_distribute_datasets_from_function")
        )
    )
    def function(self, call: Call, file: File) -> Iterator[Finding]:
        for made in call.value_of(0).options:
            inner = walk(made.node.body) if isinstance(made, Function) else ()
            for node in inner:
                batch = file.call(node) if isinstance(node, cst.Call) else None
                size = batch.arg("batch_size") if batch is not None and batch.name == "tf.data.Dataset.batch" else None
                if size is not None and self._global(size.expression, file):
                    yield self.finding(
                        call,
                        file,
                        "the batch size is the global one, and each replica gets a batch of this function's; "
                        "batch with get_per_replica_batch_size()",
                        related=[(batch, "batched here")] if batch is not None else [],
                    )
                    return

    def _global(self, size: cst.BaseExpression, file: File) -> bool:
        """Whether a size is named the global one, or is one that was multiplied by the number of replicas."""
        written = file.written(size)
        if isinstance(written, cst.BinaryOperation) and isinstance(written.operator, cst.Multiply):
            return any("num_replicas_in_sync" in _size_names(s, file, 0) for s in (written.left, written.right))
        return any(GLOBAL.search(name) for name in _size_names(size, file, 0))


def _size_names(node: cst.BaseExpression, file: File, depth: int) -> list[str]:
    """What a batch size is called: a name, attribute or key; of a parameter also what the callers call it.

    Nothing for arithmetic, which says that the size was thought of.
    """
    if isinstance(node, cst.Subscript) and isinstance(node.slice[0].slice, cst.Index):
        key = file.value(node.slice[0].slice.value)
        return [key.value] if isinstance(key, Const) and isinstance(key.value, str) else []
    if isinstance(node, cst.Attribute):
        return [node.attr.value]
    if not isinstance(node, cst.Name):
        return []
    found = [node.value]
    function = file.contexts.function(node)
    names = [p.name.value for p in parameters(function)] if isinstance(function, cst.FunctionDef) else []
    if depth and isinstance(function, cst.FunctionDef) and node.value in names:
        for caller in file.values.functions.callers(function) or ():
            given = caller.arg(node.value)
            found += _size_names(given.expression, file, depth - 1) if given is not None else []
    return found


def _multiplied_again(node: cst.BaseExpression, file: File) -> bool:
    """`GLOBAL_BATCH_SIZE * strategy.num_replicas_in_sync`."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return False
    sides = [_size_names(side, file, 0) for side in (node.left, node.right)]
    names = [name for side in sides for name in side]
    return "num_replicas_in_sync" in names and any(GLOBAL.search(name) for name in names)
