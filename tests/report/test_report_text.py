"""What people see: frames, carets, diffs, the closing line, and nothing that could confuse a terminal."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import PIPELINE, cache_after_repeat, growth_too_late, large_prefetch, notebook, result

from tfmemlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from tfmemlint.lint.engine import FileResult
from tfmemlint.report.base import exact_bytes
from tfmemlint.report.diff import show_diff
from tfmemlint.report.frame import frame
from tfmemlint.report.places import place
from tfmemlint.report.style import Style, width
from tfmemlint.text.read import read_source

PLAIN = Style(False)


def framed(text: str, words: str, limit: int = 100) -> list[str]:
    start = text.index(words)
    return framed_span(text, Span(start, start + len(words)), limit)


def framed_span(text: str, span: Span, limit: int = 100) -> list[str]:
    source = read_source(text.encode(), "a.py")
    where = place(FileResult("a.py", source), span)
    return list(frame(source, where, Severity.WARNING, PLAIN, limit))


def marked(lines: list[str]) -> str:
    """The text over the carets, by columns of a terminal."""
    number = next(index for index, line in enumerate(lines) if "^" in line)
    carets, line = lines[number], lines[number - 1]
    columns = []
    for char in line:
        columns += [char] * width(char) if width(char) else []
        if not width(char):
            columns[-1] += char
    found = [columns[at] if at < len(columns) else "" for at, mark in enumerate(carets) if mark == "^"]
    return "".join(each for at, each in enumerate(found) if width(each) < 2 or at % 2 == 0)


def test_a_frame_has_a_line_of_context_on_either_side():
    assert framed("a = 1\nb = cache()\nc = 2\nd = 3\n", "cache") == [
        " 1 | a = 1",
        " 2 | b = cache()",
        "   |     ^^^^^",
        " 3 | c = 2",
    ]


def test_a_frame_leaves_out_blank_context_and_rows_outside_the_file():
    assert framed("\ncache()", "cache") == [" 2 | cache()", "   | ^^^^^"]


def test_row_numbers_of_different_length_are_aligned():
    lines = framed("x\n" * 8 + "cache()\ny\n", "cache")
    assert lines == ["  8 | x", "  9 | cache()", "    | ^^^^^", " 10 | y"]


@pytest.mark.parametrize(
    "line",
    ["\tds.cache()", "if x:\tds.cache()", "画像 = ds.cache()", "e\u0301 = ds.cache()", "x = '\U0001f600'; ds.cache()"],
)
def test_carets_stand_under_the_text_behind_tabs_and_wide_characters(line):
    assert marked(framed(f"{line}\n", "cache")) == "cache"


def test_carets_are_as_wide_as_wide_characters():
    assert marked(framed("x = 画像.y\n", "画像")) == "画像"


@pytest.mark.parametrize("before, behind", [(0, 300), (150, 150), (300, 0)])
def test_long_lines_are_cut_around_the_carets(before, behind):
    lines = framed("x" * before + "cache" + "y" * behind + "\n", "cache", limit=60)
    assert marked(lines) == "cache"
    assert all(len(line) <= 60 for line in lines)
    assert lines[0].count("...") == (before > 0) + (behind > 0)


def test_context_is_cut_like_the_line_it_surrounds():
    lines = framed("a" * 300 + "\n" + "x" * 150 + "cache()\n" + "short\n", "cache", limit=60)
    assert len(lines) == 3 and "short" not in "".join(lines)
    assert lines[0].startswith(" 1 | ...aaa") and lines[0].endswith("...")


@given(
    st.lists(st.sampled_from(["x", "\t", "画", "e\u0301", " "]), max_size=90).map("".join),
    st.lists(st.sampled_from(["y", "\t", "像", " "]), max_size=90).map("".join),
    st.integers(30, 120),
)
def test_carets_mark_the_word_in_lines_of_any_width(before, behind, limit):
    lines = framed(f"{before}cache{behind}\n", "cache", limit)
    assert marked(lines) == "cache"
    assert all(width(line) <= limit for line in lines)


def test_a_span_of_several_lines_is_marked_to_the_end_of_its_first():
    lines = framed("with tf.GradientTape(\n    True\n) as tape:\n", "tf.GradientTape(\n    True\n)")
    assert marked(lines) == "tf.GradientTape("


@pytest.mark.parametrize("offset, caret", [(0, "   | ^"), (5, "   |      ^")])
def test_an_empty_span_has_one_caret(offset, caret):
    assert framed_span("x = (\n", Span(offset, offset))[1] == caret


def test_an_empty_file_has_a_frame():
    assert framed_span("", Span(0, 0)) == [" 1 |", "   | ^"]


def test_nothing_of_the_file_reaches_the_terminal_as_a_control(report):
    def bad(text):
        return replace(cache_after_repeat(text), message="a\x1b[2Jb\u202ec\nd")

    hostile = PIPELINE.replace("\treturn", "\t# \x1b[31m\x9b \u202e\n\treturn")
    for name in ("text", "concise", "github"):
        made = report(name, [result("/proj/a\x1b\nb.py", hostile, bad)])
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", made)
        assert "a\\x1b[2Jb\\u202ec\\nd" in made


def test_paths_that_are_no_text_can_be_written(report):
    for name in ("text", "concise", "github", "junit", "sarif", "gitlab", "rdjson", "json"):
        report(name, [result("/proj/a\udcff.py", PIPELINE, cache_after_repeat)]).encode()


def diffed(text: str, *edits: Edit, cell: int | None = None, path: str = "a.py", limit: int = 100) -> list[str]:
    source = read_source(text.encode(), path)
    return list(show_diff(source, Fix("repair", edits, Safety.SAFE), cell, PLAIN, limit))


def test_a_diff_shows_the_changed_lines_alone():
    assert diffed("a\nb\nc\n", Edit(2, 3, "B")) == [" 2 - b", "   + B"]


def test_edits_of_one_line_make_one_line_of_diff():
    assert diffed("a.b.c\n", Edit(0, 1, "A"), Edit(4, 5, "C")) == [" 1 - a.b.c", "   + A.b.C"]


def test_a_deleted_line_has_no_new_one():
    assert diffed("a\nb\nc\n", Edit(2, 4, "")) == [" 2 - b"]


def test_an_inserted_line_is_shown_with_the_line_below_it():
    assert diffed("a\nb\n", Edit(2, 2, "new\n")) == ["   + new", " 2   b"]


def test_a_line_inserted_at_the_end_is_shown_with_the_line_above_it():
    assert diffed("a\nb\n", Edit(4, 4, "new\n")) == [" 2   b", "   + new"]
    assert diffed("a", Edit(1, 1, "\nnew")) == [" 1   a", "   + new"]


def test_a_moved_line_is_one_hunk():
    moved = diffed("a\nb\nc\nd\n", Edit(0, 2, ""), Edit(6, 6, "a\n"))
    assert moved == [" 1 - a", " 2   b", " 3   c", "   + a"]


def test_places_far_apart_are_parted_by_dots():
    text = "a\n" + "x\n" * 9 + "b\n"
    assert diffed(text, Edit(0, 1, "A"), Edit(20, 21, "B")) == ["  1 - a", "    + A", " ..", " 11 - b", "    + B"]


def test_cut_lines_of_a_diff_show_the_change():
    lines = diffed("x" * 200 + "old" + "y" * 200 + "\n", Edit(200, 203, "new"), limit=60)
    assert "old" in lines[0] and "new" in lines[1]
    assert all(len(line) <= 60 for line in lines)


def test_a_diff_names_the_cells_that_it_changes(report):
    made = report("text", [result("/proj/demo.ipynb", notebook(), growth_too_late)])
    assert " cell 2\n   + tf.config.experimental" in made
    assert " cell 4\n 2 - tf.config.experimental" in made


@pytest.mark.parametrize(
    "count, shown",
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1023, "1 023 bytes"),
        (1024, "1 KiB (1 024 bytes)"),
        (197_132_288, "188 MiB (197 132 288 bytes)"),
        (1_610_612_736, "1.5 GiB (1 610 612 736 bytes)"),
    ],
)
def test_bytes_are_shown_in_binary_units_and_in_full(count, shown):
    assert exact_bytes(count) == shown


def last_line(report, chosen, **changes) -> str:
    return report("text", chosen, **changes).splitlines()[-1]


def finding(severity: Severity, safety: Safety | None = None) -> Finding:
    fix = Fix("repair", (Edit(0, 1, "y"),), safety) if safety else None
    return Finding("TFM305", "cache-after-repeat", severity, "why", Span(0, 1), fix=fix)


def file_with(*findings: Finding, suppressed: int = 0) -> FileResult:
    return FileResult("/proj/a.py", read_source(b"x\n", "/proj/a.py"), findings, suppressed)


@pytest.mark.parametrize(
    "found, shown",
    [
        ((), "No findings. Read 1 file, in 0.42 s."),
        ((finding(Severity.INFO),), "Found 1 finding (1 info). Read 1 file, in 0.42 s."),
        (
            (finding(Severity.WARNING), finding(Severity.ERROR), finding(Severity.WARNING)),
            "Found 3 findings (1 error, 2 warnings). Read 1 file, in 0.42 s.",
        ),
        (
            (finding(Severity.WARNING, Safety.SAFE), finding(Severity.WARNING, Safety.DISPLAY)),
            "Found 2 findings (2 warnings); 1 fixable with --fix. Read 1 file, in 0.42 s.",
        ),
        (
            (finding(Severity.WARNING, Safety.UNSAFE),),
            "Found 1 finding (1 warning); 1 fixable with --fix --unsafe-fixes. Read 1 file, in 0.42 s.",
        ),
        (
            (finding(Severity.WARNING, Safety.UNSAFE), finding(Severity.WARNING, Safety.SAFE)),
            "Found 2 findings (2 warnings); 1 fixable with --fix, 1 more with --unsafe-fixes. Read 1 file, in 0.42 s.",
        ),
    ],
)
def test_the_last_line_counts_findings_by_severity_and_repair(report, found, shown):
    assert last_line(report, [file_with(*found)]) == shown


def test_the_last_line_counts_files_repairs_and_suppressed_findings(report):
    run = [file_with(suppressed=2), FileResult("/proj/b.py", skipped=True), FileResult("/proj/c.py", skipped=True)]
    assert last_line(report, run, fixed=3, elapsed=None) == (
        "Fixed 3 findings; no findings left; 2 suppressed. Read 1 file, skipped 2 that do not use TensorFlow."
    )
    assert last_line(report, [], files_read=9, files_skipped=1, elapsed=2) == (
        "No findings. Read 9 files, skipped 1 that does not use TensorFlow, in 2.00 s."
    )


def test_a_failure_of_the_tool_shows_no_code(report):
    failed = Finding("TFM000", "internal-error", Severity.ERROR, "rule TFM305 failed on this file", Span(0, 0))
    assert report("text", [file_with(failed)]).splitlines()[:3] == [
        "a.py:1:1: error TFM000 internal-error",
        "  rule TFM305 failed on this file",
        "",
    ]


def test_piped_text_has_no_colour_and_coloured_text_is_the_same_text(report):
    plain, coloured = report("text"), report("text", color=True)
    assert "\x1b" not in plain
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == plain != coloured


def test_findings_can_be_sorted_by_their_cost(report):
    places = [line.split(": ")[0] for line in report("concise", sort="bytes").splitlines()]
    assert places[:2] == ["long.py:3:16", "src/train.py:6:21"]
    assert places[5:7] == ["src/train.py:1:1", "src/train.py:7:12"]
    assert sorted(places) == sorted(line.split(": ")[0] for line in report("concise").splitlines())


def test_repairs_are_named_without_their_diff_when_they_are_not_to_be_shown(report):
    made = report("text", [result("/proj/a.py", PIPELINE, large_prefetch)], show_fixes=False)
    assert "unsafe fix: let the runtime choose\n" in made
    assert "AUTOTUNE" not in made


def test_concise_says_nothing_without_findings(report):
    assert report("concise", [file_with()]) == report("concise", [], statistics=True) == ""


def test_concise_has_places_in_notebook_cells(report):
    (line,) = report("concise", [result("/proj/demo.ipynb", notebook(), growth_too_late)]).splitlines()
    assert line.startswith("demo.ipynb:cell 4:2:24: TFM101 memory growth") and line.endswith(" [unsafe fix]")


def test_standard_input_keeps_its_name(report):
    (line,) = report("concise", [result("-", PIPELINE, large_prefetch)]).splitlines()
    assert line.startswith("-:7:12: TFM302 ")
    assert '"filename": "-"' in report("json", [result("-", PIPELINE, large_prefetch)])
