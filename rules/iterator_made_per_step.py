from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Dataset,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    fixes,
    integer,
    on,
    pipelines,
    repetition,
    show_bytes,
)


class IteratorMadePerStep(Rule):
    """
    ## What it does
    Reports `next(iter(ds))` in a loop over steps, also with the iterator in a name of its own, where the pipeline is
    the same in each of them.

    ## Why it costs memory
    Each iterator starts the pipeline again: it copies the arrays that are embedded in it, starts its threads, and fills
    the buffers of `shuffle` and `prefetch`, of which one element is taken. A pipeline that does not shuffle gives the
    same first element each time.

    ## Fix safety
    Shown only: an iterator that is made once gives other elements, and ends after the last one without a `repeat()`.

    ## When not to use it
    For a sample now and then: under an `if`, once in each epoch, and in loops of ten steps at the most nothing is
    reported.

    ## References
    - https://www.tensorflow.org/guide/data#basic_mechanics
    """

    code = "TFM321"
    summary = "an iterator made in each step fills the buffers of its pipeline again for one element"
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on(repetition.iterators_per_step)
    def check(self, found: repetition.IteratorPerStep, file: File) -> Iterator[Finding]:
        buffers = [self._buffer(ds) for ds in found.datasets]
        filled = buffers[0] if len(set(buffers)) == 1 else None
        does = "starts the pipeline again" if filled is None else f"fills a shuffle buffer{filled} again"
        yield self.finding(
            found.made,
            file,
            f"this iterator is made in each step: it {does} and gives one element; make it before the loop",
            fix=self._move(found, file),
            related=[(found.place, "made again in each iteration")],
        )

    def _buffer(self, ds: Dataset) -> str | None:
        """The last shuffle's buffer in words. It is freed with the iterator: its bytes are no cost that stays."""
        shuffle = next((step.call for step in reversed(ds.steps) if step.name == "shuffle" and step.call), None)
        if shuffle is None:
            return None
        size, before = integer(shuffle.value_of("buffer_size")), shuffle.datasets()
        each, count = pipelines.element_bytes(before), pipelines.element_count(before)
        held = min(size, count) if size is not None and count is not None else size
        weigh = f" ({show_bytes(each * held)})" if each is not None and held is not None else ""
        return f" of {size}{weigh}" if size is not None else ""

    def _move(self, found: repetition.IteratorPerStep, file: File) -> Fix | None:
        """Before the loop: the statement that makes the iterator, or under a name of its own."""
        loop, made = found.place, found.made.node
        if not isinstance(loop, (cst.For, cst.While)) or not file.tree.contains(loop, made):
            return None
        source, text = file.text(found.source), file.text(made)
        if not all("repeat" in ds.names() for ds in found.datasets):
            text = text.replace(source, f"{source}.repeat()", 1)
        assign = file.tree.parent(made)
        name = file.text(assign.targets[0].target) if isinstance(assign, cst.Assign) else "batches"
        before = fixes.insert_before(file, loop, f"{name} = {text}")
        if isinstance(assign, cst.Assign):
            inside = fixes.remove_statement(file, file.tree.statement(assign))
        else:
            inside = fixes.replace_node(file, made, name)
        return Fix.shown("make the iterator before the loop", before, inside)
