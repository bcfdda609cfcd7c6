"""Positions and edits in the reports, checked by cutting and replacing text in the files as an editor would."""

from __future__ import annotations

import io
import json
import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tfmemlint.finding import Edit, Finding, Fix, Related, Safety, Severity, Span
from tfmemlint.lint.engine import FileResult
from tfmemlint.report import ReportOptions, render
from tfmemlint.text.read import read_source

PIECES = ["x", "=", " ", "\t", "é", "画", "\U0001f600", "e\u0301", "'", "(", ")", "\\", "."]
WORDS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
LINES = st.lists(WORDS, min_size=1, max_size=6)
CONTENTS = st.lists(st.sampled_from([*PIECES, "\n"]), max_size=5).map("".join)
SPANS = st.tuples(st.integers(0, 60), st.integers(0, 60))


def lines_of(text: str) -> list[str]:
    return [*re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text), ""]


def offset(text: str, row: int, column: int) -> int:
    return sum(map(len, lines_of(text)[: row - 1])) + column - 1


def cut(text: str, record: dict) -> str:
    start, end = record["location"], record["end_location"]
    return text[offset(text, **start) : offset(text, **end)]


def replaced(text: str, edits: list[tuple[tuple[int, int], tuple[int, int], str]]) -> str:
    for start, end, content in sorted(edits, reverse=True):
        text = text[: offset(text, *start)] + content + text[offset(text, *end) :]
    return text


def with_json_edits(text: str, edits: list[dict]) -> str:
    places = ((edit["location"], edit["end_location"], edit["content"]) for edit in edits)
    return replaced(text, [((a["row"], a["column"]), (b["row"], b["column"]), content) for a, b, content in places])


def rendered(name: str, result: FileResult):
    stream = io.StringIO()
    render(name, [result], stream, ReportOptions(root="/proj"))
    return json.loads(stream.getvalue())


def python_file(lines: list[str], end: str, bom: bool) -> bytes:
    return ("\ufeff" * bom + end.join(lines)).encode()


def one_cell_each(cells: list[list[str]], as_lines: bool, indent: int | None, ascii_only: bool) -> bytes:
    sources = ["\n".join(lines) for lines in cells]
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": text.splitlines(True) if as_lines else text}
        for text in sources
    ]
    document = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()


def document(blocks: list[list[str]], indent: str, end: str) -> bytes:
    made = ["# Title", "", f"{indent}```python", f"{indent}import tensorflow as tf", f"{indent}```"]
    for lines in blocks:
        made += ["", f"{indent}```python", *(indent + line for line in lines), f"{indent}```", "text"]
    return end.join([*made, ""]).encode()


NOTEBOOKS = st.builds(
    one_cell_each,
    st.lists(LINES, min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([None, 0, 1, 4]),
    st.booleans(),
)
DOCUMENTS = st.builds(
    document, st.lists(LINES, min_size=1, max_size=2), st.sampled_from(["", "   "]), st.sampled_from(["\n", "\r\n"])
)
PYTHON = st.builds(python_file, LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans())
FILES = st.one_of(
    st.tuples(st.just("/proj/a.py"), PYTHON),
    st.tuples(st.just("/proj/a.ipynb"), NOTEBOOKS),
    st.tuples(st.just("/proj/a.md"), DOCUMENTS),
)


def reported(file: tuple[str, bytes], span: tuple[int, int], fix: Fix | None = None) -> FileResult:
    path, data = file
    source = read_source(data, path)
    size = len(source.text) + 1
    start, end = sorted(place % size for place in span)
    finding = Finding(
        "TFM305",
        "cache-after-repeat",
        Severity.WARNING,
        "why",
        Span(start, end),
        related=(Related(Span(start, end), "here"),),
        fix=fix,
    )
    return FileResult(path, source, (finding,))


def within_a_line(result: FileResult) -> str:
    """The text that a finding marks, where it lies in a line of one block; else the example is dropped."""
    span, source = result.findings[0].span, result.source
    found = source.text[span.start : span.end]
    assume("\n" not in found)
    assume(any(each.span.start <= span.start and span.end <= each.span.end for each in source.blocks))
    return found


@given(PYTHON, SPANS)
def test_json_places_of_a_python_file_hold_the_text_of_the_finding(data, span):
    result = reported(("/proj/a.py", data), span)
    (record,) = rendered("json", result)
    marked = result.findings[0].span
    found = cut(data.decode("utf-8-sig"), record)
    assert re.sub("\r\n|\r", "\n", found) == result.source.text[marked.start : marked.end]
    assert cut(data.decode("utf-8-sig"), record["related"][0]) == found


@given(DOCUMENTS, SPANS)
def test_json_places_of_a_document_hold_the_text_of_the_finding(data, span):
    result = reported(("/proj/a.md", data), span)
    found = within_a_line(result)
    (record,) = rendered("json", result)
    assert cut(data.decode(), record) == found


@given(NOTEBOOKS, SPANS)
def test_json_places_of_a_notebook_hold_the_text_of_the_finding(data, span):
    result = reported(("/proj/a.ipynb", data), span)
    found = within_a_line(result)
    (record,) = rendered("json", result)
    cell = "".join(json.loads(data)["cells"][record["cell"] - 1]["source"])
    assert cut(cell, record) == found


@given(NOTEBOOKS, SPANS)
def test_sarif_regions_of_a_notebook_hold_the_text_of_the_finding_as_json(data, span):
    result = reported(("/proj/a.ipynb", data), span)
    found = within_a_line(result)
    region = rendered("sarif", result)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert json.loads(f'"{cut(data.decode(), _as_record(region))}"') == found


def _as_record(region: dict) -> dict:
    return {
        "location": {"row": region["startLine"], "column": region["startColumn"]},
        "end_location": {"row": region["endLine"], "column": region["endColumn"]},
    }


def repair(file: tuple[str, bytes], places: list[tuple[int, int]], contents: list[str]) -> tuple[FileResult, bytes]:
    """A finding with a fix of random edits, and the file after it; edits that the file refuses drop the example."""
    path, data = file
    source = read_source(data, path)
    assume(source.text)
    ends = sorted({place % (len(source.text) + 1) for pair in places for place in pair})
    edits = [
        Edit(start, end, content)
        for start, end, content in zip(ends[::2], ends[1::2], contents, strict=False)
        if source.text[start:end] != content
    ]
    assume(edits)
    fix = Fix("repair it", tuple(edits), Safety.SAFE)
    try:
        after = source.rewrite(fix.edits)
    except ValueError:
        assume(False)
    assume(after != data)
    return reported(file, (edits[0].start, edits[0].end), fix), after


REPAIRS = st.builds(
    lambda file, places, contents: (file, places, contents),
    FILES,
    st.lists(SPANS, min_size=1, max_size=3),
    st.lists(CONTENTS, min_size=3, max_size=3),
)


@settings(max_examples=200)
@given(REPAIRS)
def test_json_edits_make_the_file_that_the_fix_makes(drawn):
    result, after = repair(*drawn)
    (record,) = rendered("json", result)
    edits, data = record["fix"]["edits"], drawn[0][1]
    if result.source.kind != "notebook":
        assert with_json_edits(data.decode("utf-8-sig"), edits) == after.decode("utf-8-sig")
        return
    for number, (old, new) in enumerate(zip(_cells(data), _cells(after), strict=True), start=1):
        own = [edit for edit in edits if edit.get("cell", record["cell"]) == number]
        assert with_json_edits(old, own) == new


def _cells(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


@settings(max_examples=200)
@given(REPAIRS)
def test_sarif_replacements_make_the_file_that_the_fix_makes(drawn):
    result, after = repair(*drawn)
    (fix,) = rendered("sarif", result)["runs"][0]["results"][0]["fixes"]
    (change,) = fix["artifactChanges"]
    edits = [{**_as_record(each["deletedRegion"]), "content": each["insertedContent"]["text"]}
             for each in change["replacements"]]  # fmt: skip
    assert with_json_edits(drawn[0][1].decode("utf-8-sig"), edits) == after.decode("utf-8-sig")


@settings(max_examples=200)
@given(REPAIRS)
def test_rdjson_suggestion_makes_the_file_that_the_fix_makes(drawn):
    result, after = repair(*drawn)
    (diagnostic,) = rendered("rdjson", result)["diagnostics"]
    assume("suggestions" in diagnostic)
    (suggestion,) = diagnostic["suggestions"]
    text = drawn[0][1].decode("utf-8-sig")
    start, end = ((each["line"], _characters(text, **each)) for each in suggestion["range"].values())
    assert replaced(text, [(start, end, suggestion["text"])]) == after.decode("utf-8-sig")


def _characters(text: str, line: int, column: int) -> int:
    """The column in characters of a column in bytes of UTF-8."""
    return len(lines_of(text)[line - 1].encode()[: column - 1].decode()) + 1


def test_a_repair_that_the_file_cannot_hold_is_left_out():
    source = read_source(b"# coding: latin-1\nx = 1\n", "/proj/a.py")
    fix = Fix("use a sign", (Edit(18, 19, "\u4e00"),), Safety.SAFE)
    finding = Finding("TFM305", "cache-after-repeat", Severity.WARNING, "why", Span(18, 19), fix=fix)
    result = FileResult("/proj/a.py", source, (finding,))
    assert rendered("json", result)[0]["fix"] is None
    assert "fixes" not in rendered("sarif", result)["runs"][0]["results"][0]
    assert "suggestions" not in rendered("rdjson", result)["diagnostics"][0]


def test_a_form_feed_is_counted_as_the_file_has_it():
    result = reported(("/proj/a.py", b"x = 1\n\fdel x\n"), (6, 9))
    (record,) = rendered("json", result)
    assert cut("x = 1\n\fdel x\n", record) == "del"


def test_an_edit_up_to_a_form_feed_leaves_it_alone():
    data = b"x = 1\n\fdel x\n"
    source = read_source(data, "/proj/a.py")
    fix = Fix("drop it", (Edit(0, 6, ""),), Safety.SAFE)
    result = FileResult("/proj/a.py", source, (Finding("TFM305", "n", Severity.INFO, "why", Span(0, 1), fix=fix),))
    (record,) = rendered("json", result)
    assert with_json_edits(data.decode(), record["fix"]["edits"]) == "\fdel x\n" == source.rewrite(fix.edits).decode()
