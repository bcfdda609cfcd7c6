from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Severity, fixes, on_call, pipelines


class PrefetchNotLast(Rule):
    """
    ## What it does
    Reports `prefetch()` that is followed by `batch`, `map`, `shuffle`, `repeat`, `cache` or `filter` in the same
    pipeline, with no other prefetch after them.

    ## Why it costs memory
    A prefetch buffers the elements of the pipeline as it stands there, and only what comes before it runs ahead. The
    steps after it have yet to be done when the model asks for the next batch, and the buffer holds elements at a stage
    where they help nobody: with `prefetch(1000).batch(32)` a thousand single examples. Before a `repeat()` it runs
    empty at the end of each repetition, which costs time alone.

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
        after = pipelines.work_after(file, prefetch)
        if not after or pipelines.never_runs(file, prefetch):
            return
        first = min(after, key=lambda call: (call.method == "repeat", file.span(call.name_node).start))
        kept = pipelines.kept_batches(file, prefetch)
        yield self.finding(
            prefetch,
            file,
            self._message(first, kept),
            fix=self._move(prefetch, after, file),
            related=[(first, "this step comes after it")],
            severity=Severity.INFO if first.method == "repeat" and kept is None else None,
            bytes=kept.bytes if kept is not None else None,
            contrast=fixes.leave_out(file, prefetch),
        )

    def _message(self, first: Call, kept: pipelines.KeptBatches | None) -> str:
        if first.method == "repeat":
            why = "prefetch() before repeat() begins with an empty buffer in each repetition"
        else:
            name = f"{first.method}()"
            why = f"prefetch() before {name} keeps elements ready that still have to go through {name}"
        count = kept.count if kept is not None and kept.count is not None else None
        held = f", and it keeps {count} batches ready{{cost}}" if count is not None else ""
        return f"{why}{held}; make it the last step"

    def _move(self, prefetch: Call, after: list[Call], file: File) -> Fix | None:
        chain = [prefetch, *pipelines.following(file, prefetch)]
        if not all(call in chain for call in after):
            return None  # a step would still come after it
        text, link = fixes.autotune_text(file, prefetch.node), None
        many = any(call.method in pipelines.BATCHES for call in chain) or pipelines.kept_batches(file, prefetch)
        if many and not pipelines.buffers_few(prefetch):
            if text is None:
                return None
            link = f".prefetch({text})"
        safety = Safety.SAFE if pipelines.keeps_names(file, chain) else Safety.UNSAFE
        return Fix.of(safety, "prefetch last", fixes.move_link(file, chain, 0, -1, link))
