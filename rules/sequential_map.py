from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._dtypes import is_test

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, Severity, on_call
from tfmemlint.finding import Edit
from tfmemlint.fix.edits import api_text
from tfmemlint.model.pipelines import draws_at_random
from tfmemlint.model.values import Step

WORDS = ("sequential", "deterministic", "one at a time", "single thread", "single-thread", "not parallel")


class SequentialMap(Rule):
    """
    ## What it does
    Gives the advice to run `map` and `interleave` in parallel with `num_parallel_calls=tf.data.AUTOTUNE`.

    ## Why it costs memory
    It costs time, not memory: one element after the other is made while the model waits. In parallel, one element for each
    call is in flight.

    ## Example
    ```python
    ds = ds.map(load)
    ```
    Let TensorFlow choose how many run at once:
    ```python
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE)
    ```

    ## Fix safety
    Safe where the function is seen to be stateless, for the order of elements is kept; not offered otherwise.

    ## When not to use it
    When the function must run one at a time; a comment that says so is respected.

    ## References
    - https://www.tensorflow.org/guide/data_performance#parallelizing_data_transformation
    """

    code = "TFM313"
    summary = "map() without num_parallel_calls makes one element at a time"
    severity = Severity.INFO
    fix_safety = (Safety.SAFE,)

    @on_call("tf.data.Dataset.map", "tf.data.Dataset.interleave")
    def check(self, step: Call, file: File) -> Iterator[Finding]:
        if not step.lacks("num_parallel_calls") or not step.datasets() or is_test(file) or self._on_purpose(step, file):
            return
        if all(ds.source == "tf.data.Dataset.range" for ds in step.datasets()) or file.contexts.mapped(step.node):
            return
        yield self.finding(
            step, file, f"{step.method}() makes one element at a time (this costs time, not memory); run it in parallel", fix=self._parallel(step, file)
        )

    def _on_purpose(self, step: Call, file: File) -> bool:
        """Whether a comment at the call says that it is sequential on purpose."""
        span = file.span(file.tree.statement(step.node))
        before = file.source.line_span(max(0, file.source.line_span(span.start).start - 1)).start
        text = file.source.text[before : file.source.line_span(span.end).end].lower()
        comments = " ".join(line.partition("#")[2] for line in text.splitlines())
        return any(word in comments for word in WORDS)

    def _parallel(self, step: Call, file: File) -> Fix | None:
        spelled = api_text(file, "tf.data.AUTOTUNE")
        stateless = draws_at_random(Step(step.method or "map", step)) is False
        if spelled is None or not stateless or not step.node.args or getattr(step.node.args[-1].value, "rpar", ()):
            return None
        end = file.span(step.node.args[-1].value).end
        return Fix("run it in parallel", (Edit(end, end, f", num_parallel_calls={spelled}"),), Safety.SAFE)
