from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Call,
    Class,
    File,
    Finding,
    Instance,
    Rule,
    constant,
    facts,
    integer,
    knowledge,
    on,
    on_call,
    show_bytes,
    structure_bytes,
)

DEFAULT = 10
LARGE_QUEUE = 64
MANY_WORKERS = 16
LARGE = 1 << 30
"""Bytes of the batches in the queue from which on a shorter queue is reported, too."""

DATA_SET = "tf.keras.utils.Sequence"


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

    @on(facts.calls_passing("max_queue_size", "workers"))
    def made(self, call: Call, file: File) -> Iterator[Finding]:
        """Objects of a class that derives from a Python data set, and what its `__init__` gives the base class."""
        classes = file.values.classes
        owner = file.class_of(file.scope_of(call.node)) if call.method == "__init__" else None
        made = [owner] if owner is not None else [t.node for t in call.target.options if isinstance(t, Class)]
        if made and all(classes.derives(each, DATA_SET) for each in made):
            yield from self.check(call, file)

    @on_call(*sorted(knowledge.group("queues_batches")))
    def check(self, call: Call, file: File) -> Iterator[Finding]:
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
        data = call.value if isinstance(call.target, Class) else call.given(0, "x")
        kind = data.class_node if isinstance(data, Instance) else None
        method = file.values.classes.method(kind, "__getitem__") if kind is not None else None
        returned = [each.value for each in file.returns(method)] if method is not None else []
        return structure_bytes(file.value(returned[0])) if len(returned) == 1 and returned[0] is not None else None
