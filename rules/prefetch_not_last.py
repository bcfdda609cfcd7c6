from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, integer, on_call, pipelines

WORK = ("batch", "padded_batch", "map", "shuffle", "repeat", "cache", "filter")
"""Steps that are better done before the buffer than after it."""


class PrefetchNotLast(Rule):
    """
    ## What it does
    Reports `prefetch()` that is followed by `batch`, `map`, `shuffle`, `repeat`, `cache` or `filter` in the same
    pipeline, with no other prefetch after them.

    ## Why it costs memory
    A prefetch buffers the elements of the pipeline as it stands there, and only what comes before it runs ahead. The
    steps after it wait for the model again, and the buffer holds elements at a stage where they help nobody: with
    `prefetch(1000).batch(32)` a thousand single examples.

    ## Fix safety
    Safe: a prefetch changes neither elements nor order. A count of examples becomes `tf.data.AUTOTUNE` when the
    prefetch moves behind a batch, because there it would count batches. Unsafe where it moves from one statement to
    another that gives the pipeline another name, since the first name then stands for a later step.

    ## When not to use it
    When one slow step in the middle was measured to need a buffer of its own; the last step then has a prefetch too,
    and nothing is reported.

    ## References
    - https://www.tensorflow.org/guide/data_performance#prefetching
    """

    code = "TFM303"
    summary = "prefetch() before the last step buffers elements at the wrong stage"
    fix_safety = (Safety.SAFE, Safety.UNSAFE)
    in_tests = False

    @on_call("tf.data.Dataset.prefetch")
    def check(self, prefetch: Call, file: File) -> Iterator[Finding]:
        if integer(prefetch.value_of("buffer_size")) == 0 or pipelines.possible_later_steps(file, prefetch, "prefetch"):
            return
        after = pipelines.later_steps(file, prefetch, *WORK)
        if not after:
            return
        first = min(after, key=lambda call: file.span(call.name_node).start)
        yield self.finding(
            prefetch,
            file,
            f"prefetch() before {first.method}() buffers elements too early, and {first.method}() waits for the "
            "model again; make it the last step",
            fix=self._move(prefetch, after, file),
            related=[(first, "this step comes after it")],
        )

    def _move(self, prefetch: Call, after: list[Call], file: File) -> Fix | None:
        chain = [prefetch, *pipelines.following(file, prefetch)]
        if not all(call in chain for call in after):
            return None  # a step would still come after it
        text, link = fixes.autotune_text(file, prefetch.node), None
        if any(call.method in pipelines.BATCHES for call in chain) and not pipelines.buffers_few(prefetch):
            if text is None:
                return None
            link = f".prefetch({text})"
        safety = Safety.SAFE if pipelines.keeps_names(file, chain) else Safety.UNSAFE
        return Fix.of(safety, "prefetch last", fixes.move_link(file, chain, 0, -1, link))
