from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, Dataset, File, Finding, Rule, Severity, on_call, walk

PER_REPLICA = re.compile(r"per_(replica|gpu|worker|device|core)", re.IGNORECASE)


class PerReplicaBatch(Rule):
    """
    ## What it does
    Gives the advice to look at the batch size where a dataset that was batched with a size named "per replica" is
    distributed by `experimental_distribute_dataset`, which takes it for the global one.

    ## Why it costs memory
    The strategy splits each batch over its replicas: every replica gets a fraction of the size it was meant to have,
    and the memory of the devices stays unused.

    ## Example
    ```python
    ds = ds.batch(BATCH_PER_REPLICA)
    ds = strategy.experimental_distribute_dataset(ds)
    ```
    Batch with the global size:
    ```python
    ds = ds.batch(BATCH_PER_REPLICA * strategy.num_replicas_in_sync)
    ds = strategy.experimental_distribute_dataset(ds)
    ```

    ## Fix safety
    No fix: the learning rate depends on the batch size.

    ## When not to use it
    When the name means something else.

    ## References
    - https://www.tensorflow.org/tutorials/distribute/input
    """

    code = "TFM904"
    summary = "a per-replica batch size is split again over the replicas"
    severity = Severity.INFO
    default = False

    @on_call(
        "tf.distribute.Strategy.experimental_distribute_dataset", "tf.distribute.MirroredStrategy.experimental_distribute_dataset",
        "tf.distribute.MultiWorkerMirroredStrategy.experimental_distribute_dataset",
    )  # fmt: skip
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        for ds in call.value_of(0).options:
            for step in ds.steps if isinstance(ds, Dataset) else ():
                size = step.call.arg("batch_size") if step.call is not None and step.name == "batch" else None
                if size is None or step.call is None:
                    continue
                names = [n.value for n in walk(size.expression) if isinstance(n, cst.Name)]
                if any(PER_REPLICA.search(n) for n in names) and "num_replicas_in_sync" not in names:
                    yield self.finding(
                        call, file, "the batch size is a replica's, and distributing splits it again; batch with the global size",
                        related=[(step.call, "batched here")],
                    )  # fmt: skip
                    return
