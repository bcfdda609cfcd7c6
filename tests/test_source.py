"""Python files as program text: what is decoded, where things stand, and that nothing but the edits changes."""

from __future__ import annotations

import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.finding import Edit
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Position, RewriteError, Source, SourceError

LINE_END = re.compile(rb"\r\n|\n|\r")


def source_of(data: bytes) -> Source:
    return read_source(data, "train.py")


def replace(source: Source, old: str, new: str) -> bytes:
    start = source.text.index(old)
    return source.rewrite([Edit(start, start + len(old), new)])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"),
        (b"a = 1\rb = 2\n", "a = 1\nb = 2\n"),
        (codecs.BOM_UTF8 + b"a = 1\n", "a = 1\n"),
        ("# coding: latin-1\ns = 'é'\n".encode("latin-1"), "# coding: latin-1\ns = 'é'\n"),
        (
            "#!/bin/sh\n# -*- coding: cp1252 -*-\ns = '€'\n".encode("cp1252"),
            "#!/bin/sh\n# -*- coding: cp1252 -*-\ns = '€'\n",
        ),
        ("# coding: shift_jis\ns = 'あ'\n".encode("shift_jis"), "# coding: shift_jis\ns = 'あ'\n"),
        ("x = 1\n# coding: latin-1\ns = 'é'\n".encode(), "x = 1\n# coding: latin-1\ns = 'é'\n"),
        ("# coding: utf8\ns = 'é'\n".encode(), "# coding: utf8\ns = 'é'\n"),
        (b"a = 1\n\x0c\nclass B:\n\x0c  \x0c    c = 3\n", "a = 1\n\nclass B:\n    c = 3\n"),
        (b"a =\x0c1\n", "a = 1\n"),
    ],
)
def test_text_is_what_python_reads(data: bytes, text: str) -> None:
    assert source_of(data).text == text


@pytest.mark.parametrize(
    ("data", "message", "row", "column"),
    [
        (b"a = 1\nb = '\xe9'\n", "byte 0xe9 cannot be decoded as utf-8; save the file as UTF-8", 2, 6),
        (
            b"# coding: ascii\nb = '\xe9'\n",
            "byte 0xe9 cannot be decoded as ascii; correct the coding comment or the",
            2,
            6,
        ),
        (b"\n# coding: klingon\n", "unknown encoding klingon declared; correct the coding comment", 2, 1),
        (b"# coding: rot13\n", "unknown encoding rot13 declared", 1, 1),
        (b"# coding: utf-16\n", "the declared encoding utf-16 is not one for Python source", 1, 1),
        (
            codecs.BOM_UTF8 + b"# coding: latin-1\n",
            "starts with a UTF-8 byte order mark but declares the encoding",
            1,
            1,
        ),
        ("a = 1\n".encode("utf-16"), "coded in UTF-16, which Python does not read; save it as UTF-8", 1, 1),
        (b"a = 1\r\nb\0 = 2\n", "NUL byte", 2, 2),
    ],
)
def test_undecodable_files_say_why_and_where(data: bytes, message: str, row: int, column: int) -> None:
    with pytest.raises(SourceError, match=re.escape(message)) as error:
        source_of(data)
    assert (error.value.row, error.value.column) == (row, column)
    assert "\n" not in error.value.message


@pytest.mark.parametrize(
    ("data", "old", "new", "expected"),
    [
        (b"a = 1\r\nb = 2\r\nc = 3", "b = 2\n", "b = 2\nx = 0\n", b"a = 1\r\nb = 2\r\nx = 0\r\nc = 3"),
        (b"a = 1\r\nb = 2\nc = 3\n", "b = 2", "b = 2\nx = 0", b"a = 1\r\nb = 2\nx = 0\nc = 3\n"),
        (b"a = 1\rb = 2", "b = 2", "b = 2\nx = 0", b"a = 1\rb = 2\rx = 0"),
        (b"a = 1", "a = 1", "a = 1\nx = 0", b"a = 1\nx = 0"),
        (codecs.BOM_UTF8 + b"\ta = 1  \n", "1", "2", codecs.BOM_UTF8 + b"\ta = 2  \n"),
        (b"a = 1\n\x0cb = 2\n", "a = 1\n", "", b"\x0cb = 2\n"),
        (b"a = 1\n\x0cb = 2\n", "b", "c", b"a = 1\n\x0cc = 2\n"),
        (
            "# coding: latin-1\né = 'é'\n".encode("latin-1"),
            "'é'",
            "'è'",
            "# coding: latin-1\né = 'è'\n".encode("latin-1"),
        ),
        ("s = '日本🎉'; b = 1\n".encode(), "b", "c", "s = '日本🎉'; c = 1\n".encode()),
        (
            "# coding: iso-2022-jp\ns = 'あ'; b = 1 # い\n".encode("iso-2022-jp"),
            "b = 1",
            "b = 2",
            "# coding: iso-2022-jp\ns = 'あ'; b = 2 # い\n".encode("iso-2022-jp"),
        ),
    ],
)
def test_rewrite_changes_nothing_but_the_edit(data: bytes, old: str, new: str, expected: bytes) -> None:
    assert replace(source_of(data), old, new) == expected


def test_letters_that_the_encoding_lacks_are_refused() -> None:
    with pytest.raises(RewriteError, match="encoding iso8859-1"):
        replace(source_of(b"# coding: latin-1\na = 1\n"), "1", "'\N{SNOWMAN}'")


def test_edits_that_would_join_line_ends_are_refused() -> None:
    with pytest.raises(RewriteError, match="line ends"):
        replace(source_of(b"a = 1\rb\n"), "b", "")


@pytest.mark.parametrize("edits", [[Edit(0, 3, ""), Edit(2, 4, "")], [Edit(4, 9, "")]])
def test_overlapping_and_outlying_edits_are_errors_of_the_caller(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps another edit or lies outside"):
        source_of(b"a = 1").rewrite(edits)


def test_places_count_the_users_characters() -> None:
    source = source_of(codecs.BOM_UTF8 + "x = 'é'\r\n\f\ty = '🎉'; z\r\n".encode())
    place = source.text.index("z")
    assert source.position(source.text.index("y")) == Position(2, 3)
    assert source.position(place) == Position(2, 12)
    assert source.line_text(2) == "\f\ty = '🎉'; z"
    assert source.file_position(place) == Position(2, 12)
    assert source.line_text(9) == ""


@pytest.mark.parametrize(("row", "column", "offset"), [(0, 0, 0), (1, 99, 1), (99, 1, 2), (99, 99, 4)])
def test_places_outside_the_file_give_the_nearest_inside(row: int, column: int, offset: int) -> None:
    assert source_of(b"a\nbc").offset(row, column) == offset


def test_a_line_is_found_from_any_of_its_offsets() -> None:
    source = source_of(b"one\ntwo\nthree")
    assert [source.text[slice(*_ends(source, offset))] for offset in (0, 3, 4, 13)] == ["one", "one", "two", "three"]


def _ends(source: Source, offset: int) -> tuple[int, int]:
    span = source.line_span(offset)
    return span.start, span.end


def test_blanked_blocks_keep_all_offsets() -> None:
    source = source_of(b"a = (\nb\n")
    blank = source.without_blocks({0})
    assert blank.text == "     \n \n"
    assert source.text == "a = (\nb\n"
    assert blank.rewrite([Edit(0, 1, "c")]) == b"c = (\nb\n"


# Pieces of lines as any tool might write them: all kinds of line ends, form feeds, tabs, letters of several widths.
PIECES = st.sampled_from(
    ["a", "bc = 1", " ", "\t", "é", "日", "🎉", "\n", "\r\n", "\r", "\f", "\\", "'", "#", "\u2028", "\x85"]
)
PLAIN = st.sampled_from(["a", "bc = 1", " ", "\t", "é", "\n", "'", "#"])
CONTENT = st.text("xy \n", max_size=6)


def edits_of(text: str, cuts: list[tuple[int, int, str]]) -> list[Edit]:
    """Edits apart from each other, from numbers drawn without regard to the text."""
    edits: list[Edit] = []
    done = 0
    for gap, length, content in cuts:
        start = done + gap
        if start > len(text):
            break
        edits.append(Edit(start, min(start + length, len(text)), content))
        done = edits[-1].end + 1
    return edits


CUTS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5), CONTENT), max_size=4)


def applied(text: str, edits: list[Edit]) -> str:
    for edit in reversed(edits):
        text = text[: edit.start] + edit.content + text[edit.end :]
    return text


@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
def test_every_offset_has_a_place_and_back(raw: str, mark: bool) -> None:
    source = source_of((codecs.BOM_UTF8 if mark else b"") + raw.encode())
    assert not {"\r", "\f", "\ufeff"} & set(source.text)
    for offset in range(len(source.text) + 1):
        place = source.position(offset)
        assert source.offset(place.row, place.column) == offset
    rows = re.split(r"\r\n|\n|\r", raw)
    assert [source.line_text(row) for row in range(1, len(rows) + 1)] == rows


@given(st.lists(PIECES, max_size=30).map("".join), CUTS, st.booleans())
def test_lines_without_an_edit_stay_as_they_are(raw: str, cuts: list[tuple[int, int, str]], mark: bool) -> None:
    data = (codecs.BOM_UTF8 if mark else b"") + raw.encode()
    source = source_of(data)
    edits = edits_of(source.text, cuts)
    try:
        new = source.rewrite(edits)
    except RewriteError:
        return
    assert source_of(new).text == applied(source.text, edits)
    if not edits:
        assert new == data
        return
    lines = re.findall(rb".*?(?:\r\n|\n|\r)|.+\Z", data, re.DOTALL)
    first, last = source.position(edits[0].start).row, source.position(edits[-1].end).row
    assert new.startswith(b"".join(lines[: first - 1]))
    assert new.endswith(b"".join(lines[last:]))


@given(
    st.lists(PLAIN, max_size=30).map("".join),
    CUTS,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "latin-1"]),
)
def test_files_of_one_line_end_take_every_edit(
    raw: str, cuts: list[tuple[int, int, str]], end: str, encoding: str
) -> None:
    text = f"# coding: {encoding}\n{raw}"
    source = source_of(text.replace("\n", end).encode(encoding))
    edits = [
        Edit(edit.start + len(text) - len(raw), edit.end + len(text) - len(raw), edit.content)
        for edit in edits_of(raw, cuts)
    ]
    assert source.rewrite(edits) == applied(text, edits).replace("\n", end).encode(encoding)


@pytest.mark.parametrize(
    ("line", "mentions"),
    [
        ("import tensorflow as tf", True),
        ("from keras import layers", True),
        ("import keras_tuner", True),
        ("import kerastuner as kt", True),
        ("from tf_keras.models import Model", True),
        ("import scikeras", True),
        ("from kerasy.models import Sequential", False),
        ("import torch", False),
    ],
)
def test_libraries_whose_name_begins_like_keras_are_not_keras(line: str, mentions: bool) -> None:
    assert mentions_tensorflow(line.encode()) is mentions
