"""Which tokenizer's words a number counts."""

import pytest
from programs import model_of

from tfmemlint.query.keras.tokenizers import counted_words

MADE = "t = keras.preprocessing.text.Tokenizer()\n"

COUNTS = [
    ("work(len(t.word_index))", True),
    ("work(len(t.word_index) + 1)", True),
    ("work(2 + len(t.word_index))", True),
    ("words = t.word_index\nn = len(words) + 1\nwork(n)", True),
    ("work(len(t.word_index) * 2)", False),
    ("work(min(len(t.word_index), 9))", False),
    ("work(len(t.texts))", False),
    ("work(len(other.word_index))", False),
    ("work(t.num_words)", False),
    ("t.fit_on_texts(texts)\nwork(len(t.word_index))", True),
    ("t.fit_on_texts(['a b', 'c'])\nwork(len(t.word_index))", False),
    ("text = 'a b'\nlines = text.lower().split()\nt.fit_on_texts(lines)\nwork(len(t.word_index))", False),
    ("t.fit_on_texts(['a b'])\nt.fit_on_texts(texts)\nwork(len(t.word_index))", True),
    ("t.fit_on_texts(open('t').read().split())\nwork(len(t.word_index))", True),
    ("all = []\nall.append(text)\nt.fit_on_texts(all)\nwork(len(t.word_index))", True),
    ("all = ['a b']\nall.append(text)\nt.fit_on_texts(all)\nwork(len(t.word_index))", True),
    ("other.fit_on_texts(['a b'])\nwork(len(t.word_index))", True),
]


@pytest.mark.parametrize(("program", "expected"), COUNTS)
def test_numbers_of_all_words(program: str, expected: bool) -> None:
    file = model_of(MADE + program)
    assert (counted_words(file, file.calls_by_word["work"][0].args[0].value) is not None) is expected
