"""Keras' tokenizers of texts: which of them counts the words that an expression is the number of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.query.flow.containers import is_filled
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import Binds, dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TOKENIZER = "tf.keras.preprocessing.text.Tokenizer"
WORDS = frozenset({"word_index", "index_word", "word_counts"})
"""Attributes of a tokenizer with an entry for each word of the texts, also for those beyond `num_words`."""

LEARNS = "fit_on_texts"
OF_STRINGS = frozenset({"lower", "upper", "strip", "replace", "split", "splitlines"})
"""Methods, by their words, that give no more text than a string has."""


def counted_words(file: File, count: cst.BaseExpression) -> Call | None:
    """The call that makes the tokenizer of whose texts an expression certainly counts all words, with or without one
    more for padding: `len(tokenizer.word_index) + 1`. None where it is not known, and where all texts stand in the
    program itself: they do not grow.

    It is followed to the one place that sets an attribute, and to the arguments of a function's calls, `FOLLOWED_CALLS`
    deep, if all of them count the words of one tokenizer.
    """
    return _counted(file, count, FOLLOWED_CALLS)


def _counted(file: File, count: cst.BaseExpression, left: int) -> Call | None:
    written = _behind(file, count)
    if isinstance(written, cst.Name) and left:
        passed = [_counted(file, given, left - 1) for given in _passed(file, written)]
        return passed[0] if passed and len({each and each.node for each in passed}) == 1 else None
    if isinstance(written, cst.BinaryOperation) and isinstance(written.operator, cst.Add):
        sides = (_counted(file, side, left) for side in (written.left, written.right))
        return next((found for found in sides if found is not None), None)
    if not isinstance(written, cst.Call) or file.call(written).name != "builtins.len":
        return None
    words = _behind(file, written.args[0].value)
    if not isinstance(words, cst.Attribute) or words.attr.value not in WORDS:
        return None
    made = makers(file.value(words.value))
    return made[0] if len(made) == 1 and made[0].name == TOKENIZER and not _of_literals(file, made[0]) else None


def _of_literals(file: File, tokenizer: Call) -> bool:
    """Whether a tokenizer is seen to learn its words, and from nothing but literals."""
    learning = (file.call(node) for node in file.calls_by_word.get(LEARNS, ()))
    own = [call for call in learning if any(made is tokenizer for made in makers(call.receiver))]
    return bool(own) and all(call.node.args and _is_literal(file, call.node.args[0].value) for call in own)


def _is_literal(file: File, text: cst.BaseExpression) -> bool:
    """Whether texts are strings of the program, also split, lowered or listed."""
    filled = is_filled(file, text)
    text = file.written(text)
    if isinstance(text, (cst.List, cst.Tuple)):
        return len(text.elements) > 0 and not filled and all(_is_literal(file, each.value) for each in text.elements)
    if isinstance(text, cst.Call) and isinstance(text.func, cst.Attribute) and text.func.attr.value in OF_STRINGS:
        return _is_literal(file, text.func.value)
    return isinstance(text, (cst.SimpleString, cst.ConcatenatedString))


def _behind(file: File, expression: cst.BaseExpression) -> cst.BaseExpression:
    """The expression that a name stands for, or an attribute that one place of the file sets."""
    written = file.written(expression)
    set_at = file.assigned_paths.get(dotted(written) or "", ()) if isinstance(written, cst.Attribute) else ()
    return file.written(set_at[0].value) if len(set_at) == 1 else written


def _passed(file: File, name: cst.Name) -> list[cst.BaseExpression]:
    """What the calls of its function give a parameter."""
    found, function = file.only_definition(name), file.contexts.function(name)
    if found is None or found.binds is not Binds.PARAMETER or function is None:
        return []
    given = [call.arg(found.name) for call in file.call_graph.callers(function) or ()]
    return [each.expression for each in given if each is not None]
