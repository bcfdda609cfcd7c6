"""The words of code, as they are told from those of prose before anything is parsed."""

from __future__ import annotations

import pytest

from tfmemlint.text.code_words import words_of_calls, words_of_code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ds.cache()  # shuffle it\n", {"ds", "cache"}),
        ('"""Makes a batch / two."""\nds = 1\n', {"ds"}),
        ("'''It's a batch.'''\nds = 1\n", {"ds"}),
        ('x = "a/b"\ny = "#" + z  # w\n', {"x", "a", "b", "y", "z"}),
        ("x = a / b\n", {"x", "a", "/", "b"}),
        ('x = f"""{a / b}"""\n', {"x", "f", "a", "/", "b"}),
        ('x = """a\\""" b"""\ny = 1\n', {"x", "y"}),
        ('x = ""\ny = z + ""\n', {"x", "y", "z"}),
        ('x = "it\'s" + y\n', {"x", "it", "s", "y"}),
        ('x = """open\nds.cache()\n', {"x", "open", "ds", "cache"}),
    ],
)
def test_prose_has_no_words(text: str, words: set[str]) -> None:
    assert words_of_code(text) == words


@pytest.mark.parametrize(
    ("text", "is_called"),
    [
        ("put(x)\n", True),
        ("put (x)\n", True),
        ("a.put\\\n(x)\n", True),
        ("again = kept.put\nagain(x)\n", True),
        ("a, again = b.c, kept.put\nagain(x)\n", True),
        ("a, again = (\n    b.c,\n    kept.put,\n)\n", True),
        ("class A(b.put):\n    pass\n", False),
        ("if isinstance(x, b.put):\n    pass\n", False),
        ("# put(x)\n", False),
        ("x = put\n", False),
    ],
)
def test_words_by_which_something_may_be_called(text: str, is_called: bool) -> None:
    assert ("put" in words_of_calls(text)) is is_called


@pytest.mark.parametrize("text", ['"""' + '\\"""' * 100_000, "'\"" * 200_000, '"' * 300_001, '"""' + "\\" * 300_001])
def test_the_look_is_linear(text: str) -> None:
    words_of_code(text)


def test_the_words_of_all_texts_are_in_memory_once() -> None:
    (one,), (other,) = words_of_code("only_word_here"), words_of_code("only_word_here # and no more")
    assert one is other
