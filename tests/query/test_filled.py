"""How many items a dictionary has that code fills key by key."""

import pytest
from programs import model_of

from tfmemlint.query.repetition.filled import filled_items

MAKE = "def make():\n    d = {}\n    d['a'] = True\n    d['b'] = False\n    return d\n"


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("d = {}\nd['a'] = 1\nd['b'] = 2\nd['a'] = 3\nprobe(d)", None),
        ("d = {}\nd['a'] = 1\nd['b'] = 2\nd['a'] = 3\nlen(d)", 2),
        ("d = {'c': 0}\nd['a'] = 1\nlen(d)", 2),
        ("d = {}\nd[key] = 1\nlen(d)", None),
        ("d = {}\nd['a'] = 1\nd.update(more)\nlen(d)", None),
        ("d = {}\nd['a'] = 1\nfill(d)\nlen(d)", None),
        ("d = {**more}\nd['a'] = 1\nlen(d)", None),
        ("d = dict(more)\nd['a'] = 1\nlen(d)", None),
        (f"{MAKE}len(make())", 2),
        (f"{MAKE}e = make()\nprint(e['a'])\nlen(e)", 2),
        (f"{MAKE}e = make()\ne['c'] = 3\nlen(e)", 3),
        (f"{MAKE}e = make()\ne.pop('a')\nlen(e)", None),
        ("d = {}\ndef f(k):\n    d[k] = 1\nlen(d)", None),
    ],
)
def test_items_of_a_dictionary_that_is_filled(program: str, expected: int | None) -> None:
    file = model_of(program)
    word = "probe" if "probe" in program else "len"
    assert filled_items(file, file.calls_by_word[word][0].args[0].value) == expected
