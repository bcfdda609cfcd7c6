"""Text that has no tree, for its encoding's sake or the parser's: one finding, and no other file is lost."""

from __future__ import annotations

import contextlib
import encodings
import json
import pkgutil
import warnings
from encodings.aliases import aliases

import libcst
import pytest

from tfmemlint.config.settings import Config
from tfmemlint.finding import Severity
from tfmemlint.lint.engine import FileResult
from tfmemlint.lint.first_pass import SWITCH
from tfmemlint.lint.linter import Linter
from tfmemlint.syntax import spans
from tfmemlint.syntax.spans import PositionsUnknown
from tfmemlint.text.source import RewriteError

HEAD = "import tensorflow as tf\n"
WASTE = f"{HEAD}ds = tf.data.Dataset.range(9).repeat().cache().batch(3).prefetch(1)\n"
CODECS = sorted({*aliases.values(), *(module.name for module in pkgutil.iter_modules(encodings.__path__))})
TAILS = (b"", b"x = '\xff\xfe'\n", b"x = '\xe9", b"\x1b$", b"x = '+AAA-\\x41 \\d \\N{DASH'\n")
LINTER = Linter(Config(select=("TFM305", "TFM201")))


def lint(data: bytes | str, path: str = "a.py") -> FileResult:
    return LINTER.lint(data.encode() if isinstance(data, str) else data, path)


@pytest.mark.parametrize("codec", CODECS)
def test_every_encoding_that_python_knows_is_read_or_refused(codec: str) -> None:
    """With bytes that it does not take, too. A refusal is one finding that names the encoding and what to do."""
    for tail in TAILS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = lint(f"# coding: {codec}\n{WASTE}".encode() + tail)
        codes = [finding.code for finding in result.findings]
        assert codes in (["TFM305"], ["TFM001"], ["TFM002"]), (tail, result.findings)
        message = result.findings[0].message
        if codes == ["TFM001"]:
            assert (codec.split("_")[0] in message, "correct" in message) == (True, True)
        elif result.source is not None and result.findings[0].fix is not None:
            with contextlib.suppress(RewriteError):
                result.source.rewrite(result.findings[0].fix.edits)


@pytest.mark.parametrize("codec", ["idna", "punycode", "undefined", "rot13", "base64", "zlib", "uu", "hex"])
def test_what_is_no_encoding_of_texts_is_refused(codec: str) -> None:
    (finding,) = lint(f"# coding: {codec}\n{WASTE}".encode() + b"\xff").findings
    assert (finding.code, codec in finding.message) == ("TFM001", True)
    assert finding.message.endswith("; correct the coding comment")


def test_python_that_libcst_does_not_read_is_said_to_be_python() -> None:
    """Its tree takes no line end behind `async`, although the grammar has one."""
    result = lint(f"{WASTE}async def f():\n    return [a async\n for a in b]\n")
    refused, waste = result.findings
    assert (waste.code, waste.fix, result.complete) == ("TFM305", None, True)
    assert (refused.code, refused.severity) == ("TFM002", Severity.WARNING)
    assert refused.message == (
        "cannot parse: Python reads this, but libcst, with which tfmemlint reads code, does not; "
        "this part was checked, and nothing in it can be repaired"
    )


def test_what_only_libcst_s_tree_can_tell_leaves_a_file_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "0")
    result = lint(f"{WASTE}async def f():\n    return [a async\n for a in b]\n")
    assert [(each.code, each.severity) for each in result.findings] == [("TFM002", Severity.ERROR)]
    assert not result.complete and "nothing in this part was checked" in result.findings[0].message


def test_indentation_that_libcst_does_not_read_is_named_where_it_stands() -> None:
    text = f"{WASTE}def f(xs):\n\tfor x in xs:\n   \t\tout = 1\n\treturn 2\n"
    compile(text, "mixed", "exec")
    _, finding = lint(text).findings
    assert (finding.code, text[finding.span.start :].split("\n")[0].strip()) == ("TFM002", "out = 1")
    assert "spaces and then tabs" in finding.message


def test_a_cell_that_libcst_fails_on_costs_itself() -> None:
    cells = [WASTE, "async def f():\n    return [a async\n for a in b]\n", WASTE]
    listed = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in cells]
    result = lint(json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "a.ipynb")
    assert [finding.code for finding in result.findings] == ["TFM305", "TFM002", "TFM305"]


Panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})


@pytest.mark.parametrize("error", [Panic("assertion failed"), MemoryError(), RecursionError(), SystemError("bad")])
def test_a_parser_that_fails_costs_one_file(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> None:
        raise error

    monkeypatch.setattr(libcst, "parse_module", fail)
    assert sorted(finding.code for finding in lint(WASTE).findings) == ["TFM002", "TFM305"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interrupt_while_parsing_is_one(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> None:
        raise error

    monkeypatch.setattr(libcst, "parse_module", fail)
    with pytest.raises(type(error)):
        lint(WASTE)


def test_a_reader_that_fails_is_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: bytes, path: str) -> None:
        raise AssertionError("no such luck")

    monkeypatch.setattr("tfmemlint.lint.engine.read_source", fail)
    result = lint(WASTE)
    assert [finding.message for finding in result.findings] == ["the engine failed: AssertionError: no such luck"]


def test_a_tree_without_places_is_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not one for each rule that has something to report."""

    def fail(module: object, text: str) -> None:
        raise PositionsUnknown("positions unknown: the tree has ')' where the text has another token")

    monkeypatch.setenv(SWITCH, "0")  # else the places are those of Python's own tree
    monkeypatch.setattr(spans, "Spans", fail)
    result = lint(f"{WASTE}x = tf.linspace(0, 10, 50000000)\n")
    assert [finding.code for finding in result.findings] == ["TFM000"]
    assert "positions unknown" in result.findings[0].message
    assert result.findings[0].message.endswith("the file was not checked")


def test_a_notebook_with_a_number_too_long_for_python_is_named() -> None:
    notebook = {"cells": [], "metadata": {"keras": 1}, "nbformat": 4, "nbformat_minor": 5}
    text = json.dumps(notebook).replace('"keras": 1', '"keras": ' + "1" * 5_000)
    (finding,) = lint(text, "a.ipynb").findings
    assert (finding.code, finding.message[:34]) == ("TFM001", "the notebook's JSON cannot be read")


def test_findings_behind_a_blank_that_libcst_loses_are_repaired_in_place() -> None:
    body = "ds = tf.data.Dataset.range(9).repeat().cache()"
    text = f"{HEAD}try:\n    import numpy as np\nexcept ImportError :\n    {body}\n"
    result = lint(text)
    (finding,) = result.findings
    assert (finding.code, text[finding.span.start : finding.span.end]) == ("TFM305", "cache")
    assert result.source is not None and finding.fix is not None
    assert result.source.rewrite(finding.fix.edits).decode() == text.replace(".repeat().cache()", ".cache().repeat()")
