"""Comments that silence findings: what they reach, which are unused, what their fixes leave, how they are written."""

from __future__ import annotations

import io
import json
import re
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfmemlint
from tfmemlint.cli.commands import main
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.lint.suppress import Suppressed, add_ignores, apply_suppressions
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source
from tfmemlint.text.statements import Statements, simple_parts

KNOWN = {
    "TFM301": "missing-prefetch",
    "TFM305": "cache-after-repeat",
    "TFM402": "persistent-tape",
    "TFM601": "model-in-loop",
}
MARKS = {"cache": "TFM305", "prefetch": "TFM301", "GradientTape": "TFM402", "Model": "TFM601"}


def source_of(text: str, path: str = "train.py") -> Source:
    return read_source(text.encode(), path)


def marked(source: Source, marks: dict[str, str] = MARKS) -> list[Finding]:
    """A finding at each call of one of the marked names, as rules would make them."""
    return [
        Finding(code, KNOWN[code], Severity.WARNING, "wastes memory", Span(match.start(), match.end()))
        for word, code in marks.items()
        for match in re.finditer(rf"\b{word}\b(?=\()", source.text)
    ]


def run(text: str, *, enabled: set[str] | None = None, path: str = "train.py") -> Suppressed:
    source = source_of(text, path)
    return apply_suppressions(source, marked(source), KNOWN, set(KNOWN) if enabled is None else enabled)


def kept(text: str, **options: object) -> list[str]:
    return [finding.code for finding in run(text, **options).kept]


def cleaned(text: str, path: str = "train.py") -> str:
    """The text after the fixes of all unused suppressions, one after the other."""
    for _ in range(20):
        source = source_of(text, path)
        unused = apply_suppressions(source, marked(source), KNOWN, KNOWN).unused
        fixes = [finding.fix for finding in unused if finding.fix]
        if not fixes:
            return text
        text = source.rewrite(fixes[0].edits).decode()
    raise AssertionError("the fixes of unused suppressions do not come to an end")


# --- what a comment reaches


@pytest.mark.parametrize(
    "comment",
    [
        "# tfmemlint: ignore[TFM305]",
        "#tfmemlint:ignore[TFM305]",
        "# TFMemLint: Ignore[tfm305]",
        "# tfmemlint: ignore",
        "# tfmemlint: ignore -- the data is small",
        "# tfmemlint: ignore[TFM305] -- see issue #12",
        "# tfmemlint: ignore[TFM402, TFM305]",
        "# tfmemlint: ignore[TFM3]",
        "# tfmemlint: ignore[TFM]",
        "# tfmemlint: ignore[ALL]",
        "# tfmemlint: ignore[cache-after-repeat]",
        "# noqa: TFM305",
        "# noqa:TFM305",
        "#noqa : tfm305",
        "# NOQA: E501, TFM305",
        "# noqa: E501 TFM305",
        "# noqa: E501,TFM3",
        "# noqa",
        "# noqa -- small",
        "# type: ignore  # noqa: TFM305",
        "# noqa: E501  # tfmemlint: ignore[TFM305]",
        "# pylint: disable=no-member # tfmemlint: ignore[TFM305] # type: ignore",
    ],
)
def test_comments_that_silence_a_finding_of_their_line(comment: str) -> None:
    assert kept(f"ds = ds.repeat().cache()  {comment}\n") == []


@pytest.mark.parametrize(
    "comment",
    [
        "# tfmemlint: ignore[TFM301]",
        "# tfmemlint: ignore[TFM30",
        "# tfmemlint: ignore[]",
        "# tfmemlint: ignore TFM301",
        "# tfmemlint: forget[TFM305]",
        "# tfmemlint: disabled because of this",
        "# tfmemlint is good",
        "# noqa: E501",
        "# noqa: TFM301",
        "# flake8: noqa",
        "# nothing noqa",
    ],
)
def test_comments_that_silence_nothing(comment: str) -> None:
    assert kept(f"ds = ds.repeat().cache()  {comment}\n") == ["TFM305"]


PIPELINE = """\
ds = (  {0}
    tf.data.Dataset.from_tensor_slices(x)  {1}
    .repeat()
    {2}
    .cache()  {3}
    .map("# tfmemlint: ignore" if y else '''
''')  {4}
)  {5}
other = ds.cache()
"""


@pytest.mark.parametrize("line", range(6))
@pytest.mark.parametrize("comment", ["# tfmemlint: ignore[TFM305]", "# noqa: TFM305"])
def test_a_comment_on_any_line_of_a_statement_holds_for_the_statement_alone(line: int, comment: str) -> None:
    source = source_of(PIPELINE.format(*(comment if at == line else "" for at in range(6))))
    result = apply_suppressions(source, marked(source), KNOWN, KNOWN)
    assert [source.position(finding.span.start).row for finding in result.kept] == [9]
    assert len(result.suppressed) == 1
    assert result.unused == ()


def test_words_in_strings_are_no_comments() -> None:
    assert kept("ds = ds.cache('''# tfmemlint: ignore\n# noqa''') + ' # noqa' + f\"{a['# noqa']}\"\n") == ["TFM305"]


def test_a_comment_after_a_backslash_continuation_holds() -> None:
    assert kept("ds = ds.repeat() \\\n    .cache() \\\n    .batch(2)  # tfmemlint: ignore[TFM305]\n") == []


def test_a_comment_above_holds_for_the_next_statement_only() -> None:
    text = "# tfmemlint: ignore[TFM305]\n# the data is small\nds = (\n  ds\n  .cache()\n)\nds = ds.cache()\n"
    result = run(text)
    assert len(result.kept) == len(result.suppressed) == 1
    assert result.unused == ()
    assert result.kept[0].span.start > result.suppressed[0].span.start


def test_a_comment_above_a_blank_line_holds_for_nothing() -> None:
    assert kept("# tfmemlint: ignore[TFM305]\n\nds = ds.cache()\n") == ["TFM305"]


def test_a_noqa_on_its_own_line_holds_for_nothing() -> None:
    assert kept("# noqa: TFM305\nds = ds.cache()\n") == ["TFM305"]


@pytest.mark.parametrize(
    "text",
    [
        "with GradientTape():  # tfmemlint: ignore\n    ds.cache()\n",
        "# tfmemlint: ignore\nwith GradientTape():\n    ds.cache()\n",
        "for x in (GradientTape(),  # tfmemlint: ignore\n          1):\n    ds.cache()\n",
        "# tfmemlint: ignore[TFM402]\n@decorated(GradientTape())\n# more\n\n@again\ndef f():\n    ds.cache()\n",
        "@decorated(GradientTape())\ndef f():  # noqa: TFM402\n    ds.cache()\n",
    ],
)
def test_a_compound_statement_is_reached_up_to_its_body(text: str) -> None:
    assert kept(text) == ["TFM305"]


def test_one_decorated_function_does_not_reach_the_next() -> None:
    text = "@a(ds.cache())\ndef f():  # tfmemlint: ignore\n    pass\n\n@a(ds.cache())\ndef g():\n    pass\n"
    assert kept(text) == ["TFM305"]


def test_ranges_switch_codes_off_and_on() -> None:
    text = (
        "a.cache()\n"
        "# tfmemlint: disable[TFM305, TFM402]\n"
        "b.cache(); GradientTape()\n"
        "# tfmemlint: enable[TFM305]\n"
        "c.cache(); GradientTape()\n"
        "# tfmemlint: enable\n"
        "d.cache(); GradientTape()\n"
    )
    source = source_of(text)
    result = apply_suppressions(source, marked(source), KNOWN, KNOWN)
    places = sorted((source.position(finding.span.start).row, finding.code) for finding in result.kept)
    assert places == [(1, "TFM305"), (5, "TFM305"), (7, "TFM305"), (7, "TFM402")]
    assert result.unused == ()


def test_a_range_reaches_into_bodies_and_to_the_end_of_the_file() -> None:
    assert kept("def f():\n    # tfmemlint: disable\n    a.cache()\ndef g():\n    b.cache()\n") == []


def test_a_range_at_the_end_of_a_line_holds_for_the_line() -> None:
    text = "a.cache()  # tfmemlint: disable[TFM305]\nb.cache()  # tfmemlint: enable[TFM305]\nc.cache()\n"
    assert [text[finding.span.start - 2] for finding in run(text).kept] == ["c"]


@pytest.mark.parametrize("line", ["# tfmemlint: file-ignore[TFM305]", "x = 1  # tfmemlint: file-ignore -- generated"])
def test_file_ignore_holds_for_the_whole_file(line: str) -> None:
    assert kept(f"a.cache()\n\n{line}\n\nb.cache()\n") == []


def test_failures_are_never_silenced() -> None:
    source = source_of("# tfmemlint: file-ignore\nx = (  # noqa\n")
    failure = Finding("TFM002", "syntax-error", Severity.ERROR, "cannot parse", Span(25, 25))
    assert apply_suppressions(source, [failure], KNOWN, KNOWN).kept == (failure,)


def test_a_bracket_left_open_does_not_hide_comments() -> None:
    assert kept("x = f(\nds.cache()  # noqa: TFM305\n") == []


def test_text_without_such_comments_is_not_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tfmemlint.lint.suppress.Statements", None)
    assert kept("ds.cache()  # a comment about noqa\n") == ["TFM305"]


# --- comments that silence nothing


def test_an_unused_code_is_reported_at_its_comment() -> None:
    text = "x = 1  # type: ignore  # tfmemlint: ignore[TFM305, TFM601]\n"
    (finding,) = run(text).unused
    assert (finding.code, finding.name, finding.severity) == ("TFM003", "unused-suppression", Severity.WARNING)
    assert text[finding.span.start : finding.span.end] == "# tfmemlint: ignore[TFM305, TFM601]"
    assert finding.message == "this suppression is unused: TFM305, TFM601 are not reported here"
    assert finding.fix is not None and finding.fix.safety.value == "safe"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1  # tfmemlint: ignore[TFM999]\n", "TFM999 is no known code or rule name"),
        ("x = 1  # tfmemlint: ignore[cache-after-repaet]\n", "cache-after-repaet is no known code or rule name"),
        ("x = 1  # noqa: TFM999\n", "TFM999 is no known code or rule name"),
        ("x = 1  # tfmemlint: enable[TFM999]\n", "TFM999 is no known code or rule name"),
        ("x = 1  # tfmemlint: ignore[]\n", "this comment silences nothing: it names no code"),
        ("x = 1  # tfmemlint: ignore\n", "this comment silences nothing: no rule reports anything here"),
        ("x = 1  # tfmemlint: ignore TFM305\n", "write the codes in brackets, as in ignore[TFM305]"),
        ("x = 1  # tfmemlint: ignore[TFM305\n", "write the codes in brackets, as in ignore[TFM305]"),
        ("x = 1  # tfmemlint: forget[TFM305]\n", "'forget' is none of ignore, disable, enable, file-ignore"),
        ("x = 1  # tfmemlint: noqa\n", "'noqa' is none of ignore, disable, enable, file-ignore"),
        ("x = 1  # tfmemlint: noqa  # noqa: E501\n", "'noqa' is none of ignore, disable, enable, file-ignore"),
        ("# tfmemlint: disable-file\n", "'disable-file' is none of ignore, disable, enable, file-ignore"),
        ("x = 1  # tfmemlint ignore\n", "write `tfmemlint:`, with a colon"),
        ("x = 1  # tfmemlint ignore[TFM305]\n", "write `tfmemlint:`, with a colon"),
    ],
)
def test_what_is_wrong_with_a_comment_is_said(text: str, words: str) -> None:
    (finding,) = run(text, enabled=set(KNOWN)).unused
    assert words in finding.message


@pytest.mark.parametrize(
    "text",
    [
        "x = 1  # noqa\n",
        "x = 1  # noqa: E501\n",
        "x = 1  # noqa: E501, W291 and more\n",
        "x = 1  # tfmemlint: ignore[TFM003]\n",
        "x = 1  # tfmemlint: ignore[TFM305]  # noqa\n",
        "x = 1  # noqa: TFM305, TFM003\n",
        "# tfmemlint: file-ignore[unused-suppression]\nx = 1  # tfmemlint: ignore[TFM305]\n",
        "# tfmemlint: enable[TFM305]\nx = 1\n",
        "# tfmemlint: good to know\nx = 1\n",
    ],
)
def test_what_is_not_reported_as_unused(text: str) -> None:
    assert run(text).unused == ()


@pytest.mark.parametrize("entry", ["[TFM402]", "[TFM4]", "[persistent-tape]", "", "[TFM]", "[ALL]"])
def test_codes_that_did_not_run_are_not_unused(entry: str) -> None:
    assert run(f"x = 1  # tfmemlint: ignore{entry}\n", enabled={"TFM305"}).unused == ()


def test_codes_that_did_not_run_stay_when_others_go() -> None:
    (finding,) = run("x = 1  # tfmemlint: ignore[TFM305, TFM402]\n", enabled={"TFM305"}).unused
    assert finding.fix is not None
    assert [edit.content for edit in finding.fix.edits] == ["TFM402"]


def test_nothing_is_unused_in_a_file_that_was_not_checked_to_the_end() -> None:
    source = source_of("x = (  # tfmemlint: ignore[TFM305]\n")
    failure = Finding("TFM002", "syntax-error", Severity.ERROR, "cannot parse", Span(4, 4))
    assert apply_suppressions(source, [failure], KNOWN, KNOWN).unused == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1  # tfmemlint: ignore[TFM305]\n", "x = 1\n"),
        ("x = 1  # tfmemlint: ignore[TFM305] -- see #12\n", "x = 1\n"),
        ("x = 1 \t # noqa: TFM305\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1  # noqa: TFM305", "x = 1"),
        ("x = 1  # noqa: TFM305 as it is small\n", "x = 1\n"),
        ("x = 1  # noqa: E501, TFM305\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: TFM305, E501\n", "x = 1  # noqa: E501\n"),
        ("x = 1  # noqa: E501,TFM305,W291\n", "x = 1  # noqa: E501,W291\n"),
        ("x = 1  # noqa: TFM305 E501 TFM402\n", "x = 1  # noqa: E501\n"),
        ("a.cache()# tfmemlint: ignore[TFM402, TFM305, X9] -- b\n", "a.cache()# tfmemlint: ignore[TFM305] -- b\n"),
        ("x = 1  # type: ignore  # noqa: TFM305\n", "x = 1  # type: ignore\n"),
        ("x = 1  # noqa: TFM305  # type: ignore\n", "x = 1  # type: ignore\n"),
        ("x = 1  # a b  # noqa: TFM305  # type: ignore\n", "x = 1  # a b  # type: ignore\n"),
        ("x = 1\n    # tfmemlint: ignore[TFM305]\ny = 2\n", "x = 1\ny = 2\n"),
        ("x = 1\n# noqa: TFM305\n", "x = 1\n"),
        ("x = 1\n# noqa: TFM305", "x = 1"),
        ("# noqa: TFM305", ""),
        ("x = 1\r\n# noqa: TFM305\r\ny = 2\r\n", "x = 1\r\ny = 2\r\n"),
        ("x = 1  # noqa: TFM305  # tfmemlint: ignore\n", "x = 1\n"),
        ("# tfmemlint: file-ignore[TFM305, TFM402]\nds.cache()\n", "# tfmemlint: file-ignore[TFM305]\nds.cache()\n"),
        ("# tfmemlint: disable[TFM402]\nx = 1\n# tfmemlint: enable[TFM402]\ny = 1\n", "x = 1\ny = 1\n"),
        ("# tfmemlint: disable\nx = 1\n# tfmemlint: enable\ny = 1\n", "x = 1\ny = 1\n"),
        ("# tfmemlint: disable[TFM402]\n# tfmemlint: enable[TFM402]", ""),
        (
            "# tfmemlint: disable[TFM305, TFM402]\nds.cache()\n# tfmemlint: enable[TFM305, TFM402]\n",
            "# tfmemlint: disable[TFM305]\nds.cache()\n# tfmemlint: enable[TFM305]\n",
        ),
        (
            "# tfmemlint: disable[TFM305]\nds.cache()\n# tfmemlint: disable[TFM305]\n# tfmemlint: enable[TFM305]\n",
            "# tfmemlint: disable[TFM305]\nds.cache()\n# tfmemlint: enable[TFM305]\n",
        ),
        (
            "# tfmemlint: disable[TFM305]\n# tfmemlint: disable[TFM402]\nx\n# tfmemlint: enable[TFM305, TFM402]\n",
            "x\n",
        ),
    ],
)
def test_the_fix_takes_out_what_is_unused_and_nothing_else(before: str, after: str) -> None:
    assert cleaned(before) == after


def test_a_used_comment_stays_as_it_is() -> None:
    text = "ds.cache()  # tfmemlint: ignore[TFM305]  # noqa: TFM305\n"
    assert cleaned(text) == text


# --- notebooks and documents


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_comments_of_a_notebook_hold_in_their_cell() -> None:
    text = notebook("import tensorflow as tf\n# tfmemlint: ignore[TFM305]", "a.cache()", "b.cache()  # noqa: TFM305")
    source = source_of(text, "train.ipynb")
    result = apply_suppressions(source, marked(source), KNOWN, KNOWN)
    assert [source.position(finding.span.start).cell for finding in result.kept] == [2]
    assert [source.position(finding.span.start).cell for finding in result.unused] == [1]


def test_the_fix_in_a_notebook_changes_one_cell() -> None:
    before = notebook("a = 1\n# tfmemlint: ignore[TFM305]", "b = 1  # noqa: TFM402\nc = 1", "d = 1")
    assert cleaned(before, "train.ipynb") == notebook("a = 1", "b = 1\nc = 1", "d = 1")


def test_a_bracket_left_open_in_a_cell_ends_with_the_cell() -> None:
    text = notebook("f(", "a.cache()  # noqa: TFM305", "b.cache()")
    assert len(run(text, path="train.ipynb").kept) == 1


# --- writing comments


def ignored(text: str, reason: str = "", path: str = "train.py") -> str:
    source = source_of(text, path)
    return source.rewrite(add_ignores(source, marked(source), reason)).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ds.cache()\n", "ds.cache()  # tfmemlint: ignore[TFM305]\n"),
        ("ds.cache()", "ds.cache()  # tfmemlint: ignore[TFM305]"),
        ("ds.cache()   \n", "ds.cache()  # tfmemlint: ignore[TFM305]\n"),
        ("ds.cache()  # small\n", "ds.cache()  # small  # tfmemlint: ignore[TFM305]\n"),
        ("ds.cache()  # noqa: E501\r\n", "ds.cache()  # noqa: E501  # tfmemlint: ignore[TFM305]\r\n"),
        ("a.cache(); b.cache()\n", "a.cache(); b.cache()  # tfmemlint: ignore[TFM305]\n"),
        ("a.cache().prefetch(1)\n", "a.cache().prefetch(1)  # tfmemlint: ignore[TFM301, TFM305]\n"),
        ("(a\n.cache()\n.prefetch(1)\n)\n", "(a\n.cache()  # tfmemlint: ignore[TFM301, TFM305]\n.prefetch(1)\n)\n"),
        ("a.cache('''\n''', b\n)\n", "a.cache('''\n''', b  # tfmemlint: ignore[TFM305]\n)\n"),
        ("a \\\n.cache() \\\n.batch(2)\n", "a \\\n.cache() \\\n.batch(2)  # tfmemlint: ignore[TFM305]\n"),
        ("if x:\n    ds.cache() \\\n", "if x:\n    # tfmemlint: ignore[TFM305]\n    ds.cache() \\\n"),
        (
            "a.cache().prefetch(1)  # tfmemlint: ignore[TFM305] -- why\n",
            "a.cache().prefetch(1)  # tfmemlint: ignore[TFM305, TFM301] -- why\n",
        ),
        (
            "# tfmemlint: ignore[TFM402]\nwith GradientTape(a.cache()):\n    b.cache()\n",
            "# tfmemlint: ignore[TFM402, TFM305]\nwith GradientTape(a.cache()):\n"
            "    b.cache()  # tfmemlint: ignore[TFM305]\n",
        ),
    ],
)
def test_comments_are_written_where_python_allows_them(before: str, after: str) -> None:
    assert ignored(before) == after


def test_written_comments_silence_the_findings_and_are_written_once() -> None:
    text = ignored(PIPELINE.format(*[""] * 6) + "with GradientTape():\n    Model()\n")
    assert kept(text) == []
    source = source_of(text)
    result = apply_suppressions(source, marked(source), KNOWN, KNOWN)
    assert result.unused == ()
    assert add_ignores(source, result.kept) == []


def test_a_reason_is_written_on_one_line() -> None:
    assert ignored("ds.cache()\n", "fits in\n memory") == "ds.cache()  # tfmemlint: ignore[TFM305] -- fits in memory\n"
    assert kept(ignored("ds.cache()\n", "fits in memory")) == []


def test_comments_are_written_into_the_cells_of_a_notebook() -> None:
    before = notebook("import tensorflow as tf", "%time x = 1\na.cache()", "b = 1")
    after = notebook("import tensorflow as tf", "%time x = 1\na.cache()  # tfmemlint: ignore[TFM305]", "b = 1")
    assert ignored(before, path="train.ipynb") == after


def test_failures_and_unused_suppressions_get_no_comment() -> None:
    source = source_of("x = 1\n")
    found = [Finding(code, "x", Severity.ERROR, "m", Span(0, 0)) for code in ("TFM000", "TFM002", "TFM003")]
    assert add_ignores(source, found) == []


# --- through the command line


HEAD = "import tensorflow as tf\n\n"
WASTE = "ds = tf.data.Dataset.range(9).repeat().cache()"
REPAIRED = "ds = tf.data.Dataset.range(9).cache().repeat()"


def check(folder: Path, text: str, *arguments: str, name: str = "train.py") -> tuple[int, str]:
    """The exit code of a check of one file, and what the file holds afterwards."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    code = main(["check", "--isolated", "--no-cache", "--output-format=concise", *arguments, str(path)])
    return code, path.read_text(encoding="utf-8")


@pytest.mark.parametrize("comment", ["# tfmemlint: ignore[TFM305]", "# noqa: TFM305", "# tfmemlint: file-ignore"])
def test_reports_and_fixes_honour_a_comment_alike(comment: str, tmp_path: Path) -> None:
    silenced = f"{HEAD}{WASTE}  {comment}\n"
    assert check(tmp_path, silenced, "--select=TFM305") == (0, silenced)
    assert check(tmp_path, silenced, "--select=TFM305", "--fix") == (0, silenced)
    assert check(tmp_path, f"{HEAD}{WASTE}\n", "--select=TFM305")[0] == 1
    assert check(tmp_path, f"{HEAD}{WASTE}\n", "--select=TFM305", "--fix") == (0, f"{HEAD}{REPAIRED}\n")


def test_reports_and_fixes_honour_a_comment_in_a_notebook(tmp_path: Path) -> None:
    text = notebook("import tensorflow as tf", f"{WASTE}  # noqa: TFM305\nx = 1", WASTE)
    repaired = notebook("import tensorflow as tf", f"{WASTE}  # noqa: TFM305\nx = 1", REPAIRED)
    assert check(tmp_path, text, "--select=TFM305", "--fix", name="train.ipynb") == (0, repaired)


def test_fix_takes_unused_comments_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"{HEAD}# tfmemlint: disable[TFM305]\nds = tf.cache  # noqa: E501, TFM305\n# tfmemlint: enable[TFM305]\n"
    assert check(tmp_path, text)[0] == 1
    assert capsys.readouterr().out.count("TFM003") == 2
    assert check(tmp_path, text, "--fix") == (0, f"{HEAD}ds = tf.cache  # noqa: E501\n")


def test_rules_that_are_not_selected_make_no_comment_unused(tmp_path: Path) -> None:
    text = f"{HEAD}ds = tf.cache  # noqa: TFM305, TFM402\n"
    assert check(tmp_path, text, "--select=TFM601,TFM003")[0] == 0
    assert check(tmp_path, text, "--select=TFM305,TFM003", "--fix") == (0, text.replace("TFM305, ", ""))


def test_add_ignore_writes_comments_and_the_next_check_is_clean(tmp_path: Path) -> None:
    text = f"{HEAD}ds = (\n    tf.data.Dataset.range(9)\n    .repeat()\n    .cache()\n)\n"
    after = text.replace(".cache()", ".cache()  # tfmemlint: ignore[TFM305] -- it is small")
    assert check(tmp_path, text, "--select=TFM305", "--add-ignore=it is small") == (0, after)
    assert check(tmp_path, after, "--select=TFM305") == (0, after)
    assert check(tmp_path, after, "--select=TFM305", "--add-ignore") == (0, after)


LONG = """\
ds = (  {0}
    tf.data.Dataset.range(9)  {1}
    .repeat()
    {2}
    .cache()  {3}
)  {4}
"""
PLACES = [LONG.format(*("{}" if at == line else "" for at in range(5))) for line in range(5)]
ABOVE = "{}\n" + LONG.format(*[""] * 5)
SILENCED = {
    **{f"{name} on line {line + 1}": place.format(comment) for name, comment in (
        ("ignore", "# tfmemlint: ignore[TFM305]"), ("noqa", "# noqa: TFM305"),
        ("a rule's name", "# tfmemlint: ignore[cache-after-repeat] -- it is small"),
    ) for line, place in enumerate(PLACES)},
    "above": ABOVE.format("# tfmemlint: ignore[TFM305]"),
    "above other comments": ABOVE.format("# tfmemlint: ignore[TFM3]\n# and why"),
    "a range": ABOVE.format("# tfmemlint: disable[TFM305]") + "# tfmemlint: enable[TFM305]\n",
    "a range to the end": ABOVE.format("# tfmemlint: disable"),
    "the file": LONG.format(*[""] * 5) + "\n# tfmemlint: file-ignore[TFM305]\n",
}  # fmt: skip
HEARD = {
    "above and apart": ABOVE.format("# tfmemlint: ignore[TFM305]\n"),
    "behind the range": "# tfmemlint: disable[TFM305]\n# tfmemlint: enable[TFM305]\n" + LONG.format(*[""] * 5),
    "noqa above": ABOVE.format("# noqa: TFM305"),
    "another code": PLACES[0].format("# tfmemlint: ignore[TFM402]"),
}


def as_file(code: str, name: str) -> str:
    """The code behind the import of TensorFlow, in a file of the kind that the name says."""
    if name.endswith(".ipynb"):
        return notebook("import tensorflow as tf", code.rstrip("\n"))
    if name.endswith(".md"):
        return f"# Guide\n\n```python\nimport tensorflow as tf\n```\n\n```python\n{code}```\n"
    return f"{HEAD}{code}"


@pytest.mark.parametrize("name", ["train.py", "train.ipynb", "train.md"])
@pytest.mark.parametrize("code", SILENCED.values(), ids=SILENCED)
def test_reports_fixes_and_diffs_honour_each_kind_of_comment(
    code: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = as_file(code, name)
    for mode in ([], ["--fix"], ["--diff"]):
        assert check(tmp_path, text, "--select=TFM305,TFM003", "-q", *mode, name=name) == (0, text)
        assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["train.py", "train.ipynb", "train.md"])
@pytest.mark.parametrize("code", HEARD.values(), ids=HEARD)
def test_a_comment_elsewhere_silences_neither_reports_nor_fixes(code: str, name: str, tmp_path: Path) -> None:
    text = as_file(code, name)
    assert check(tmp_path, text, "--select=TFM305", name=name) == (1, text)
    code, fixed = check(tmp_path, text, "--select=TFM305", "--fix", name=name)
    assert code == 0 and fixed != text


@pytest.mark.parametrize("name", ["train.py", "train.ipynb", "train.md"])
def test_unused_comments_are_reported_and_taken_out_of_any_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = as_file("a = tf.cache  # tfmemlint: ignore[TFM305] -- once\nb = 1  # noqa: E501, TFM305\n", name)
    assert check(tmp_path, text, name=name) == (1, text)
    assert capsys.readouterr().out.count("TFM003 this suppression is unused: TFM305 is not reported here") == 2
    fixed = as_file("a = tf.cache\nb = 1  # noqa: E501\n", name)
    assert check(tmp_path, text, "--fix", name=name) == (0, fixed)


@pytest.mark.parametrize("name", ["train.py", "train.ipynb", "train.md"])
@pytest.mark.parametrize(("option", "reason"), [("--add-ignore", ""), ("--add-ignore=small data", " -- small data")])
def test_comments_are_written_into_any_file(name: str, option: str, reason: str, tmp_path: Path) -> None:
    lines = LONG.format(*[""] * 5).splitlines(keepends=True)
    lines[4] = f"    .cache()  # tfmemlint: ignore[TFM305]{reason}\n"
    text, written = as_file(LONG.format(*[""] * 5), name), as_file("".join(lines), name)
    assert check(tmp_path, text, "--select=TFM305", option, name=name) == (0, written)
    assert check(tmp_path, written, "--select=TFM305,TFM003", name=name) == (0, written)


# --- the scanner that finds comments and statements


TRICKY = [
    "x = f\"{d['a']}\" # one\n",
    "x = '#' + \"#\" + '''#\n#''' # one\ny = r'\\\\' # two\n",
    "if x: y = (1,\n 2) # a\nelse:\n\tz = 1 \\\n + 2 # b\n\n\n# last",
    "class A: # c\n  '''doc # no\n  '''\n  def f(self, # d\n    x): return rb'#' # e\n",
    "x = f'{a!r:>{w}} {{#}} #' # f\n",
    "x = [\n# inside\n\n]\n\ny = 1\n",
]


def tokenized(text: str) -> tuple[list[int], list[Span]]:
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    comments, spans, first = [], [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        offset = starts[token.start[0] - 1] + token.start[1] if token.start[0] <= len(starts) else len(text)
        if token.type == tokenize.COMMENT:
            comments.append(offset)
        elif token.type == tokenize.NEWLINE:
            assert first is not None
            spans.append(Span(first, min(offset, len(text))))
            first = None
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER) and first is None:
            first = offset
    return comments, spans


MODULES = sorted(Path(tfmemlint.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("text", [*TRICKY, *(path.read_text() for path in MODULES)])
def test_comments_and_statements_are_those_of_pythons_tokenizer(text: str) -> None:
    found = Statements(source_of(text))
    assert ([comment.start for comment in found.comments], found.spans) == tokenized(text)


def test_quotes_inside_the_fields_of_a_format_string_do_not_end_it() -> None:
    text = 'x = f"{d["# a"]:{w["b"]}} # c"  # d\ny = 1\n'
    found = Statements(source_of(text))
    assert [text[comment.start : comment.end] for comment in found.comments] == ["# d"]
    assert len(found.spans) == 2


def test_parts_of_a_line_that_a_formatter_may_split() -> None:
    text = "if (a := f(x)[1:2], lambda: 1): y = ':'; z = {1: 2}  # c"
    assert [text[part.start : part.end].strip() for part in simple_parts(text)] == [
        "if (a := f(x)[1:2], lambda: 1):",
        "y = ':';",
        "z = {1: 2}  # c",
    ]
    assert len(simple_parts("x: int = f(lambda a: a)")) == 1


PIECES = [
    *("x", "f", "(", ")", "[", "]", "{", "}", "'", '"', "'''", '"""', "#", "\\", "\n", " ", ":", ";", "@a", ".cache()"),
    *("# noqa: TFM305", "# tfmemlint: ignore[TFM305]", "# tfmemlint: disable[TFM402]", "# tfmemlint: enable[TFM402]"),
]


def code_of(source: Source) -> list[str]:
    """The lines of a source without comments, blank ends and blank lines."""
    text = source.text
    for comment in reversed(Statements(source).comments):
        text = text[: comment.start] + text[comment.end :]
    return [line.rstrip() for line in text.split("\n") if line.strip()]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_in_any_text_fixes_change_comments_only(text: str) -> None:
    source = source_of(text)
    findings = marked(source)
    result = apply_suppressions(source, findings, KNOWN, KNOWN)
    assert len(result.kept) + len(result.suppressed) == len(findings)
    for finding in result.unused:
        if finding.fix:
            assert code_of(source_of(source.rewrite(finding.fix.edits).decode())) == code_of(source)


STATEMENTS = [
    "x = 1\n", "a.cache()\n", "a.cache().prefetch(2); GradientTape()\n", "(\n  a\n  .cache()\n  .prefetch(\n  1)\n)\n",
    "a \\\n  .cache() \\\n  .batch(2)\n", "f(a.cache(), '''#\n''', GradientTape(\n))\n",
    "@f(a.cache())\ndef g(): Model()\n",
    "with GradientTape():\n    Model()\n    a.cache()\n", "\n", "# noqa: TFM305\n", "a.cache()  # noqa: TFM305\n",
    "# tfmemlint: ignore[TFM305]\n", "# tfmemlint: disable[TFM402]\n", "# tfmemlint: enable[TFM402]\n",
    "GradientTape(  # tfmemlint: ignore[TFM305] -- why\n)\n",
]  # fmt: skip


@given(st.lists(st.sampled_from(STATEMENTS), max_size=8).map("".join))
def test_written_comments_silence_all_findings_and_change_no_code(text: str) -> None:
    source = source_of(text)
    left = apply_suppressions(source, marked(source), KNOWN, KNOWN).kept
    after = source_of(source.rewrite(add_ignores(source, left)).decode())
    assert code_of(after) == code_of(source)
    assert apply_suppressions(after, marked(after), KNOWN, KNOWN).kept == ()
