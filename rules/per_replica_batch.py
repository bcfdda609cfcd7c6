from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Dataset,
    File,
    Finding,
    Function,
    Node,
    Rule,
    Severity,
    calls,
    knowledge,
    on_call,
    runtime,
)

STRATEGIES = ("tf.distribute.Strategy", *knowledge.subclasses("tf.distribute.Strategy"))


class PerReplicaBatch(Rule):
    """
    ## What it does
    Gives the advice to look at the batch size where the program's own arithmetic shows that it is the wrong one of two.
    `experimental_distribute_dataset` takes the global size, which it splits over the replicas; the function that
    `distribute_datasets_from_function` is given batches for one replica.

    A size that the program multiplies by `num_replicas_in_sync` is one replica's; the product, and what it divides by
    that number or gives to `get_per_replica_batch_size`, is the global one. Where the program computes neither, nothing
    is said.

    ## Why it costs memory
    The strategy splits each batch over its replicas: given one replica's size, every replica gets a fraction of what it
    was meant to have, and the memory of the devices stays unused. Given the global size for each replica, every
    replica holds a whole global batch and its activations.

    ## When not to use it
    When one size is meant for training and the other for evaluation.

    ## References
    - https://www.tensorflow.org/tutorials/distribute/input
    """

    code = "TFM904"
    summary = "a batch size of one replica is split again, or a global one is not split"
    no_fix = "the learning rate depends on the batch size"
    severity = Severity.INFO
    default = False

    @on_call(*(f"{owner}.experimental_distribute_dataset" for owner in STRATEGIES))
    def dataset(self, call: Call, file: File) -> Iterator[Finding]:
        for batch in _batches(call):
            size = batch.arg("batch_size")
            share = runtime.share_of(file, size.expression) if size is not None else None
            related: list[tuple[Call | Node, str]] = [(batch, "batched here")]
            if size is not None and runtime.multiplied_twice(file, size.expression):
                why = "the batch size is the global one times the replicas: each replica gets a global batch"
            elif share is not None:
                why = "the batch size is one replica's, and distributing splits it again; batch with the global size"
                related.append((share, "the global size"))
            else:
                continue
            yield self.finding(call, file, why, related=related)
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
            if size is not None and runtime.is_for_all(file, size.expression):
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
