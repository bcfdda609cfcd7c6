from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Const, File, Finding, Rule, Severity, integer, keras, on_call

LIMIT = 1 << 30
"""Bytes of the table with gradients and optimizer slots from which on it is reported."""

MANY_WORDS = 100_000
"""Words of a text of some size: a few thousand reviews have as many, most of them names and misspellings."""

WIDE = 1 << 28
"""256 MiB: bytes that a table of so many words takes in training, from which on it is worth advice."""


class OversizedEmbedding(Rule):
    """
    ## What it does
    Reports `Embedding` layers with literal sizes whose table, gradients and optimizer slots pass 1 GiB.

    As advice also wide tables with a row for every word of the texts, `len(tokenizer.word_index) + 1` of a `Tokenizer`:
    those that would take 256 MiB for 100 000 words, which a few thousand reviews or articles have.

    ## Why it costs memory
    The table has rows x width weights. Adam keeps two more arrays of that size, and updates all rows even when a batch
    touches a few.

    Texts have words without end, most of which occur once. With `num_words` a tokenizer gives the commonest alone, and
    the table needs no other row; `word_index` still holds all of them, so that a table of its length has rows which no
    index ever reaches.

    ## When not to use it
    When the table is meant to be that large and fits. A frozen table is no advice's matter. Not reported are tables of
    which both sizes are defaults of a function or class that the file never calls with others (an architecture with
    the sizes of a published checkpoint), and those of a model that is given weights from a file before it is trained.

    ## References
    - https://keras.io/api/layers/core_layers/embedding/
    """

    code = "TFM613"
    summary = "an embedding table with its optimizer state passes 1 GiB"
    no_fix = "it changes the model"
    in_tests = False

    @on_call("tf.keras.layers.Embedding")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        rows, width = integer(call.value_of("input_dim")), integer(call.value_of("output_dim"))
        if width is None:
            return
        if rows is None:
            yield from self._all_words(call, file, width)
            return
        size, words = keras.trained_bytes(file, call, rows * width)
        if size >= LIMIT and not self._is_given(call, file):
            yield self.finding(call, file, f"this table has {rows * width:,} parameters: {words}", bytes=size)

    def _is_given(self, call: Call, file: File) -> bool:
        """Whether the table comes from a checkpoint, or both sizes are defaults that its users replace."""
        sizes = [arg.expression for arg in (call.arg("input_dim"), call.arg("output_dim")) if arg is not None]
        return all(keras.is_default(file, each) for each in sizes) or keras.takes_given_weights(file, call)

    def _all_words(self, call: Call, file: File, width: int) -> Iterator[Finding]:
        """A table as long as the texts have words."""
        rows = call.arg("input_dim")
        made = keras.counted_words(file, rows.expression) if rows is not None else None
        if made is None or keras.is_frozen(file, call):
            return
        size, words = keras.trained_bytes(file, call, MANY_WORDS * width)
        if size >= WIDE:
            all_of_them = made.lacks("num_words") or made.value_of("num_words") == Const(None)
            advice = "give the tokenizer num_words and" if all_of_them else "rows from num_words on are never used:"
            yield self.finding(
                call,
                file,
                f"this table has a row for every word and grows with the text ({MANY_WORDS:,} words: {words}); "
                f"{advice} make it num_words long",
                related=[(made, "the tokenizer")],
                severity=Severity.INFO,
            )
