"""Keras' tokenizers of texts: which of them counts the words that an expression is the number of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.query.flow.makers import makers

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TOKENIZER = "tf.keras.preprocessing.text.Tokenizer"
WORDS = frozenset({"word_index", "index_word", "word_counts"})
"""Attributes of a tokenizer with an entry for each word of the texts, also for those beyond `num_words`."""


def counted_words(file: File, count: cst.BaseExpression) -> Call | None:
    """The call that makes the tokenizer of whose texts an expression certainly counts all words, with or without one
    more for padding: `len(tokenizer.word_index) + 1`. None where it is not known."""
    written = file.written(count)
    if isinstance(written, cst.BinaryOperation) and isinstance(written.operator, cst.Add):
        sides = (counted_words(file, side) for side in (written.left, written.right))
        return next((found for found in sides if found is not None), None)
    if not isinstance(written, cst.Call) or file.call(written).name != "builtins.len":
        return None
    words = file.written(written.args[0].value)
    if not isinstance(words, cst.Attribute) or words.attr.value not in WORDS:
        return None
    made = makers(file.value(words.value))
    return made[0] if len(made) == 1 and made[0].name == TOKENIZER else None
