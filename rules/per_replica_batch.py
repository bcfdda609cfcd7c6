from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Dataset, File, Finding, Function, Rule, Severity, calls, flow, knowledge, on_call

STRATEGIES = ("tf.distribute.Strategy", *knowledge.subclasses("tf.distribute.Strategy"))
PER_REPLICA = re.compile(r"per_(replica|gpu|worker|device|core)", re.IGNORECASE)
GLOBAL = re.compile(r"global.*batch|batch.*global", re.IGNORECASE)
REPLICAS = "num_replicas_in_sync"


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

    @on_call(*(f"{owner}.experimental_distribute_dataset" for owner in STRATEGIES))
    def dataset(self, call: Call, file: File) -> Iterator[Finding]:
        for batch in _batches(call):
            size = batch.arg("batch_size")
            if size is None:
                continue
            product, why = flow.factors(file, size.expression) or (), ""
            if any(map(PER_REPLICA.search, flow.called(file, size.expression))):
                why = "the batch size is a replica's, and distributing splits it again; batch with the global size"
            elif REPLICAS in product and any(map(GLOBAL.search, product)):
                why = "the batch size is the global one times the replicas: each replica gets a global batch"
            if why:
                yield self.finding(call, file, why, related=[(batch, "batched here")])
                return

    @on_call(
        *(
            f"{owner}.{name}"
            for owner in STRATEGIES
            for name in ("distribute_datasets_from_function", "experimental_distribute_datasets_from_function")
        )
    )
    def function(self, call: Call, file: File) -> Iterator[Finding]:
        functions = [made.node for made in call.value_of(0).options if isinstance(made, Function)]
        for batch in (found for node in functions for found in calls(file, node, "tf.data.Dataset.batch")):
            size = batch.arg("batch_size")
            if size is not None and _is_global(file, size.expression):
                yield self.finding(
                    call,
                    file,
                    "the batch size is the global one, and each replica gets a batch of this function's; "
                    "batch with get_per_replica_batch_size()",
                    related=[(batch, "batched here")],
                )
                return


def _batches(call: Call) -> list[Call]:
    """The calls that batch the pipelines which a strategy is given."""
    steps = [step for ds in call.value_of(0).options if isinstance(ds, Dataset) for step in ds.steps]
    return [step.call for step in steps if step.name == "batch" and step.call is not None]


def _is_global(file: File, size: cst.BaseExpression) -> bool:
    """Whether a size is one that was multiplied by the number of replicas, or is named the global one."""
    product = flow.factors(file, file.written(size))
    return any(map(GLOBAL.search, flow.called(file, size, through=0))) if product is None else REPLICAS in product
