from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    Call,
    Dataset,
    File,
    Finding,
    Rule,
    Value,
    at_most,
    constant,
    facts,
    fixes,
    integer,
    keras,
    knowledge,
    on,
    on_call,
    pipelines,
    show_bytes,
)

DEFAULT = 10
LARGE_QUEUE = 64
MANY_WORKERS = 16
TAKES_ANY = frozenset({"fit", "evaluate", "predict"})
"""Methods that take arrays and pipelines as well, and need no queue for these."""

LARGE = 1 << 30
"""Bytes of the batches in the queue from which on a shorter queue is reported, too."""


class OversizedQueue(Rule):
    """
    ## What it does
    Reports `max_queue_size` of 64 or more batches, and 16 or more worker processes, for Keras' Python data sets.

    ## Why it costs memory
    The queue holds that many finished batches in host memory. Each process is a copy of the program with its own
    copies of what its data set holds.

    ## When not to use it
    When batches are small and their making is very uneven. A queue shorter than 64 is reported only above Keras' 10,
    where its batches come to 1 GiB. Arrays and `tf.data` pipelines need no queue, nor does a generator with
    `workers=0`: they are not reported, nor is what an unseen function gives to `fit`, which may be one of them.

    ## References
    - https://keras.io/api/utils/python_utils/#pydataset-class
    """

    code = "TFM615"
    summary = "a long queue of batches and many processes fill host memory"
    no_fix = "how much the queue must bridge is yours to say"
    in_tests = False

    @on(facts.calls_passing("max_queue_size", "workers"))
    def made(self, call: Call, file: File) -> Iterator[Finding]:
        if keras.makes_data_set(file, call):
            yield from self._check(call, call.value, file)

    @on_call(*sorted(knowledge.group("queues_batches")))
    def given(self, call: Call, file: File) -> Iterator[Finding]:
        data, x = call.given(0, "x"), call.arg("x") or call.arg(0)
        unseen = x is not None and call.method in TAKES_ANY and pipelines.made_by_unseen(file, x.expression)
        if not unseen and not self._needs_no_queue(call, data):
            yield from self._check(call, data, file)

    def _needs_no_queue(self, call: Call, data: Value) -> bool:
        """Whether a model certainly takes its batches without one: those of arrays and `tf.data`, where `fit` and its
        like ignore how long it should be, and those that the program's own thread makes."""
        if constant(call.given("workers")) == 0 or call.arg("batch_size") is not None:
            return True
        return any(isinstance(option, (Array, Dataset)) for option in data.options)

    def _check(self, call: Call, data: Value, file: File) -> Iterator[Finding]:
        queue, workers = (integer(call.given(name)) for name in ("max_queue_size", "workers"))
        batch = keras.batch_bytes(file, data)
        size = queue * batch if queue is not None and batch is not None else None
        if at_most(size, file.config.min_bytes - 1):
            return
        if queue is not None and (queue >= LARGE_QUEUE or (queue > DEFAULT and (size or 0) >= LARGE)):
            shorter = fixes.replace_keyword(file, call.node, "max_queue_size", str(DEFAULT))
            weigh = f": {show_bytes(size)}" if size is not None else ""
            what = f"the queue keeps {queue} finished batches in host memory{weigh}; about {DEFAULT} are enough"
            yield self.finding(call, file, what, bytes=size, contrast=shorter)
        elif workers is not None and workers >= MANY_WORKERS and constant(call.given("use_multiprocessing")) is True:
            what = f"{workers} processes each hold a copy of the data set and its arrays; use fewer, or threads"
            yield self.finding(call, file, what, contrast=fixes.replace_keyword(file, call.node, "workers", "1"))
