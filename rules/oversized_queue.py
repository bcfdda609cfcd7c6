from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Class,
    File,
    Finding,
    Instance,
    Rule,
    constant,
    integer,
    on_file,
    own_nodes,
    show_bytes,
    structure_bytes,
)

DEFAULT = 10
LARGE_QUEUE = 64
MANY_WORKERS = 16
LARGE = 1 << 30
"""Bytes of the batches in the queue from which on a shorter queue is reported, too."""

DATA_SETS = ("tf.keras.utils.PyDataset", "tf.keras.utils.Sequence")
QUEUES = frozenset({
    *(f"tf.keras.Model.{name}" for name in ("fit", "evaluate", "predict")),
    *(f"tf.keras.Model.{name}_generator" for name in ("fit", "evaluate", "predict")),
    *DATA_SETS, *(f"{name}.__init__" for name in DATA_SETS),
    *(f"tf.keras.utils.{name}Enqueuer.start" for name in ("Ordered", "Generator", "Sequence")),
})  # fmt: skip


class OversizedQueue(Rule):
    """
    ## What it does
    Reports `max_queue_size` of 64 or more batches, and 16 or more worker processes, for Keras' Python data sets.

    ## Why it costs memory
    The queue holds that many finished batches in host memory. Each process is a copy of the program with its own
    copies of what its data set holds.

    ## When not to use it
    When batches are small and their making is very uneven.

    ## References
    - https://keras.io/api/utils/python_utils/#pydataset-class
    """

    code = "TFM615"
    summary = "a long queue of batches and many processes fill host memory"
    no_fix = "how much the queue must bridge is yours to say"
    in_tests = False

    @on_file("max_queue_size", "workers")
    def check(self, file: File) -> Iterator[Finding]:
        for node in file.tree.of(cst.Call):
            call = file.call(node) if node.args else None
            if call is not None and self._queues(call, file):
                yield from self._given(call, file)

    def _queues(self, call: Call, file: File) -> bool:
        """Whether the call sets up a queue of batches: of a model, a Python data set, its base class or an enqueuer."""
        if call.names:
            return all(name in QUEUES for name in call.names)
        if all(isinstance(t, Class) and self._data_set(t.node, file) for t in call.target.options):
            return True
        function = file.contexts.function(call.node) if call.method == "__init__" else None
        owner = file.class_of(function) if function is not None else None
        receiver = call.receiver_node
        if owner is None or not isinstance(receiver, cst.Call) or not isinstance(receiver.func, cst.Name):
            return False
        return receiver.func.value == "super" and self._data_set(owner, file)

    def _data_set(self, node: cst.ClassDef, file: File) -> bool:
        return any(file.values.classes.derives(node, base) for base in DATA_SETS)

    def _given(self, call: Call, file: File) -> Iterator[Finding]:
        queue, workers = (integer(call.given(name)) for name in ("max_queue_size", "workers"))
        batch = self._batch_bytes(call, file)
        size = queue * batch if queue is not None and batch is not None else None
        if size is not None and size < file.config.min_bytes:
            return
        if queue is not None and (queue >= LARGE_QUEUE or (queue > DEFAULT and (size or 0) >= LARGE)):
            weigh = f": {show_bytes(size)}" if size is not None else ""
            what = f"the queue keeps {queue} finished batches in host memory{weigh}; about {DEFAULT} are enough"
            yield self.finding(call, file, what, bytes=size)
        elif workers is not None and workers >= MANY_WORKERS:
            if constant(call.given("use_multiprocessing")) is True:
                what = f"{workers} processes each hold a copy of the data set and its arrays; use fewer, or threads"
                yield self.finding(call, file, what)

    def _batch_bytes(self, call: Call, file: File) -> int | None:
        """The bytes of one batch, where the data set's `__getitem__` makes arrays of known sizes."""
        given = call.value_of(0) if call.arg(0) is not None else call.value_of("x")
        kind = given.class_node if isinstance(given, Instance) else None
        target = call.target
        made = target.node if isinstance(target, Class) else kind
        method = file.values.classes.method(made, "__getitem__") if made is not None else None
        returns = list(own_nodes(method, cst.Return)) if method is not None else []
        if len(returns) != 1 or not isinstance(returns[0], cst.Return) or returns[0].value is None:
            return None
        return structure_bytes(file.value(returns[0].value))
