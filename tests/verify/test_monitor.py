"""`tfmemlint run` on programs of the user's own."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tfmemlint.cli import commands
from tfmemlint.verify.monitor import Hot, statements, worth_showing
from tfmemlint.verify.pages.run_page import page
from tfmemlint.verify.run.measure import Line, Run

MIB = 1024**2

PROGRAM = """
    import sys
    import tensorflow as tf

    ds = (
        tf.data.Dataset.range(32)
        .map(lambda i: tf.fill([256, 1024], tf.cast(i, tf.float32)))
        .repeat(4)
        .cache()
    )
    for row in ds:
        pass
    big = tf.ones([100, 1024, 1024])
    print("end", sys.argv[1:])
    sys.exit(5)
"""


@pytest.mark.tensorflow
def test_a_script_runs_unchanged_and_its_lines_are_shown_with_their_memory(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    words = ["run", "--output-format", "json", "--html", str(tmp_path / "page.html"), str(script), "--epochs", "3"]
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", *words], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 5
    assert done.stdout == "end ['--epochs', '3']\n"
    figures, _ = json.JSONDecoder().raw_decode(done.stderr, done.stderr.index('{\n  "format"'))
    assert figures["peak-bytes"] == pytest.approx(528 * MIB, rel=0.02)
    most = figures["lines"][0]
    assert most["code"] == "big = tf.ones([100, 1024, 1024])"
    assert most["rise"] > 200 * MIB
    assert "big = tf.ones" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_script_that_is_not_there_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["run", "nowhere.py"]) == 2
    assert capsys.readouterr().err == "tfmemlint: error: nowhere.py: no such file\n"


def test_a_script_that_kills_itself_leaves_no_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "gone.py"
    script.write_text("import os; os._exit(9)", encoding="utf-8")
    assert commands.main(["run", str(script)]) == 2
    assert "left no figures: it ended with exit status 9" in capsys.readouterr().err


def hot(line: int, rise: int, live: int = 0, rss: int = 0) -> Hot:
    return Hot(Line("a.py", line, "f", 1, live, rss, rise), "", ())


def test_lines_are_ordered_by_how_much_the_peak_rose_and_idle_ones_are_left_out() -> None:
    shown = worth_showing([hot(1, 0, live=9 * MIB), hot(2, MIB, live=9 * MIB), hot(3, 5 * MIB, live=5 * MIB)])
    assert [each.line.line for each in shown] == [3, 2]


def test_without_tensors_the_lines_with_the_most_process_memory_come_first() -> None:
    assert [each.line.line for each in worth_showing([hot(1, 0, rss=5), hot(2, 0, rss=9)])] == [2, 1]


def test_statements_over_several_lines_and_the_heads_of_compound_ones() -> None:
    code = b"x = (\n  1)\nfor a in (\n  b):\n    c\n"
    assert sorted(statements(code)) == [(1, 2), (3, 4), (5, 5)]
    assert statements(b"x = (") == []


def test_the_page_needs_nothing_from_elsewhere() -> None:
    run = Run("ok", peak_bytes=MIB, timeline=((0.0, 0, MIB, None), (1.0, MIB, 2 * MIB, None)), rss_start=MIB)
    text = page("<train>.py", run, [hot(3, MIB)])
    assert "&lt;train&gt;.py" in text and "<svg" in text
    for word in ("http:", "https:", "<script", "<link", "src="):
        assert word not in text
