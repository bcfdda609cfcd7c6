"""Places of a text in the units of editors, and texts after the changes that these send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import (
    Position,
    Range,
    TextDocumentContentChangePartial,
    TextDocumentContentChangeWholeDocument,
    TextDocumentItem,
)
from rpc import applied

from tfmemlint.server.documents import Text, encoded
from tfmemlint.server.positions import ENCODINGS, Lines
from tfmemlint.text.decoding import decode_python

TEXTS = st.text(st.sampled_from("ab é\u2028\x0c😀\r\n\t"), max_size=30)
BYTES_A_UNIT = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}


@pytest.mark.parametrize("name", sorted(ENCODINGS))
@given(text=TEXTS)
def test_offsets_come_back(name: str, text: str) -> None:
    lines = Lines(text, ENCODINGS[name])
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":  # between the two there is no position
            assert lines.offset(lines.position(offset)) == offset


@pytest.mark.parametrize("codec", sorted(BYTES_A_UNIT))
@given(before=st.text(st.sampled_from("aé€😀"), max_size=9))
def test_columns_count_units_of_the_encoding(codec: str, before: str) -> None:
    lines = Lines(f"one\n{before}x", ENCODINGS[codec.removesuffix("-le")])
    units = len(before.encode(codec)) // BYTES_A_UNIT[codec]
    assert lines.position(4 + len(before)) == Position(1, units)
    assert lines.at(2, len(before) + 1) == Position(1, units)


def test_only_cr_and_lf_end_lines() -> None:
    lines = Lines("a\x0cb\u2028c\x1cd\re\r\nf\n")
    assert [lines.line(number) for number in range(5)] == ["a\x0cb\u2028c\x1cd", "e", "f", "", ""]


@given(text=TEXTS, line=st.integers(0, 99), character=st.integers(0, 99))
def test_any_position_is_taken(text: str, line: int, character: int) -> None:
    assert 0 <= Lines(text).offset(Position(line, character)) <= len(text)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, list[tuple[Position, Position, str]]]:
    start = text = draw(TEXTS)
    made = []
    for _ in range(draw(st.integers(1, 4))):
        lines = Lines(text)
        first, last = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        if "\r\n" in (text[first - 1 : first + 1], text[last - 1 : last + 1]):
            continue
        new = draw(TEXTS)
        made.append((lines.position(first), lines.position(last), new))
        text = text[:first] + new + text[last:]
    return start, made


@given(changes())
def test_changes_are_made_as_the_editor_made_them(made: tuple[str, list[tuple[Position, Position, str]]]) -> None:
    start, edits = made
    document = Text(TextDocumentItem("file:///a.py", "python", 1, start))
    expected = start
    for first, last, new in edits:
        where = {
            "start": {"line": first.line, "character": first.character},
            "end": {"line": last.line, "character": last.character},
        }
        expected = applied(expected, [(where, new)])
    document.change([TextDocumentContentChangePartial(Range(one, two), new) for one, two, new in edits], 2)
    assert (document.text, document.version) == (expected, 2)


def test_a_change_without_range_is_the_whole_text() -> None:
    document = Text(TextDocumentItem("file:///a.py", "python", 1, "old"))
    document.change([TextDocumentContentChangeWholeDocument("new")], 7)
    assert (document.text, document.version) == ("new", 7)


def test_halves_of_a_character_that_come_one_by_one_are_one() -> None:
    document = Text(TextDocumentItem("file:///a.py", "python", 1, ""))
    for at, half in enumerate(("\ud83d", "\ude00")):
        place = Position(0, at)
        document.change([TextDocumentContentChangePartial(Range(place, place), half)], at)
    assert document.text == "😀"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("é = '😀'\n", "é = '😀'\n"),
        ("# coding: latin-1\né = 1\n", "# coding: latin-1\né = 1\n"),
        ("# coding: latin-1\né = '😀'\n", "# coding: latin-1\né = '?'\n"),
    ],
)
def test_a_file_is_read_as_from_disk(text: str, read: str) -> None:
    assert decode_python(encoded(text)).raw == read


@given(st.text(max_size=30), st.sampled_from(("", "# coding: utf-7\n", "# coding: nonsense\n", "# coding: rot13\n")))
def test_any_text_has_bytes(text: str, cookie: str) -> None:
    assert isinstance(encoded(cookie + text), bytes)
