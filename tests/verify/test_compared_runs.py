"""`tfmemlint run --save` and `--against`, and `run` of a notebook."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run as CommandLine

from tfmemlint.verify.compared import Earlier, change, remarks, rows
from tfmemlint.verify.notebooks import read_notebook
from tfmemlint.verify.pages.run_page import page
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.runs import Failure, Run

MIB = 1024**2


def notebook(path: Path, *cells: str, kind: str = "code") -> Path:
    made = [
        {"cell_type": kind, "execution_count": None, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    path.write_text(json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    return path


CELLS = (
    "!pip install nothing\nimport os, helper\nif 'colab' in str(get_ipython()):\n    raise OSError",
    "%%bash\nexit 3",
    "%%time\nkept = bytearray(64 << 20)\nfiles = !ls\nkept[::4096] = b'x' * len(kept[::4096])\n"
    "total = sum(number % 7 for number in range(3_000_000))\ndisplay(os.getcwd())",
    "%%writefile helper.py\nwrong = True",
    "import sys\nsys.exit(len(sys.argv) + helper.two)",
)


def test_the_cells_run_as_one_program_in_the_notebooks_folder_and_commands_are_named(here: Path) -> None:
    (here / "inner").mkdir()
    (here / "inner/helper.py").write_text("two = 2\n")
    notebook(here / "inner/nb.ipynb", *CELLS)
    words = ["run", "--save", "before.json", "--device", "cpu", "inner/nb.ipynb", "--epochs", "1"]
    done = subprocess.run([sys.executable, "-m", "tfmemlint", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (5, f"{(here / 'inner').resolve()}\n"), done.stderr
    assert done.stderr.splitlines()[0] == (
        "tfmemlint: left out of inner/nb.ipynb: cell 1, line 1: !pip install nothing; cell 2: %%bash; "
        "cell 3, line 1: %%time; cell 3, line 3: !ls; cell 4: %%writefile helper.py"
    )
    assert (here / "inner/helper.py").read_text() == "two = 2\n"
    saved = json.loads((here / "before.json").read_text())
    assert saved["script"] == "nb.ipynb" and saved["rss-peak"] - saved["rss-start"] > 32 * MIB
    places = {(Path(line["file"]).name, line["cell"], line["line"]) for line in saved["lines"]}
    assert ("nb.ipynb", 3, 5) in places


@pytest.mark.tensorflow
def test_a_run_is_shown_beside_an_earlier_one(here: Path) -> None:
    for megabytes, words in ((100, ["--save", "a.json"]), (50, ["--against", "a.json", "--html", "both.html"])):
        cells = ("import tensorflow as tf", f"big = tf.ones([{megabytes}, 256, 1024])", "raise ValueError('end')")
        notebook(here / "nb.ipynb", *cells)
        command = [sys.executable, "-m", "tfmemlint", "run", *words, "nb.ipynb"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
    shown = {line.strip().partition("  ")[0]: line.split() for line in done.stderr.splitlines()}
    assert shown["peak of tensors"][3:] == ["100", "MiB", "50", "MiB", "-50", "%"]
    assert "nb.ipynb:cell 2:1: big = tf.ones([50, 256, 1024])" in done.stderr
    assert "tfmemlint: it ended in line 1 of cell 3" in done.stderr
    assert (here / "both.html").read_text("utf-8").count("<svg") == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "it has no figures"),
        ("{", "it is no JSON"),
        ('{"format": 2, "peak-bytes": 1}', "saved in format 2; this version reads 1"),
        ('{"format": 1, "peak-bytes": "many", "status": "ok"}', "Expected `int | null`"),
        ('{"format": 1, "peak-bytes": 1}', "missing required field"),
        ("[" * 100_000, "it is no JSON"),
    ],
)
def test_a_file_that_is_no_saved_run_is_one_line(run: CommandLine, text: str, reason: str) -> None:
    Path("old.json").write_text(text)
    Path("a.py").write_text("raise SystemExit(7)")
    done = run("run", "--against", "old.json", "a.py")
    assert done.code == 2 and reason in done.err and done.err.count("\n") == 1


def test_an_earlier_run_that_is_not_there_is_one_line(run: CommandLine) -> None:
    Path("a.py").touch()
    done = run("run", "--against", "gone.json", "a.py")
    assert done == (2, "", "tfmemlint: error: cannot read gone.json: No such file or directory\n")


@pytest.mark.parametrize("text", ["", "{}", "not json", '{"cells": 3}'])
def test_a_file_that_is_no_notebook_is_one_line(run: CommandLine, text: str) -> None:
    Path("nb.ipynb").write_text(text)
    done = run("run", "nb.ipynb")
    assert done.code == 2 and done.err.count("\n") == 1 and "nb.ipynb" in done.err


def test_a_notebook_without_python_has_nothing_to_run(tmp_path: Path) -> None:
    for path in (notebook(tmp_path / "a.ipynb", "%%bash\nls"), notebook(tmp_path / "b.ipynb", "# A", kind="markdown")):
        with pytest.raises(MeasureError, match="no cells in Python"):
            read_notebook(path)


def test_lines_of_the_program_have_places_in_the_notebook(tmp_path: Path) -> None:
    made = read_notebook(notebook(tmp_path / "nb.ipynb", "a = 1\nb = 2", "%%html\n<p>", "c = 3"))
    assert [line for line in made.text.splitlines() if line] == ["a = 1", "b = 2", "c = 3"]
    places = {text: (made.place(row).cell, made.place(row).row) for row, text in enumerate(made.text.splitlines(), 1)}
    assert (places["a = 1"], places["b = 2"], places["c = 3"]) == ((1, 1), (1, 2), (3, 1))


def test_how_figures_differ() -> None:
    assert [change(*each) for each in ((100, 50), (2, 3), (5, 5), (1000, 1001), (0, 3), (None, 3), (3, None))] == [
        "-50 %", "+50 %", "same", "same", "new", "", "",
    ]  # fmt: skip
    found = {row.label: row for row in rows(Run("ok", peak_bytes=4 * MIB), Run("ok", peak_bytes=MIB, rss_peak=MIB))}
    assert (found["peak of tensors"].before, found["peak of tensors"].now) == ("4 MiB", "1 MiB")
    assert (found["peak of process memory"].before, found["peak of process memory"].change) == ("-", "")
    assert "tensors at the end" not in found


def test_what_speaks_against_comparing_is_said() -> None:
    before = Run("error", error=Failure("ValueError", message="no"), device="CPU:0", versions={"tensorflow": "2.20.0"})
    now = Run("ok", device="GPU:0", versions={"tensorflow": "2.21.0"})
    assert list(remarks(Earlier("old.json", "a.py", before), "b.py", now)) == [
        "old.json is of a.py, this is b.py",
        "they ran on different devices: CPU:0 before, GPU:0 now",
        "tensorflow was 2.20.0 before and is 2.21.0 now",
        "before it ended early: ValueError: no",
    ]
    assert list(remarks(Earlier("old.json", "b.py", now), "b.py", now)) == []


def test_the_page_has_both_curves_and_escapes_what_the_file_says() -> None:
    course = ((0.0, 0, MIB, None), (1.0, MIB, 2 * MIB, None))
    before = Run("ok", peak_bytes=MIB, timeline=course, rss_start=MIB, device="CPU:0")
    now = Run("ok", peak_bytes=3 * MIB, timeline=course[:1], rss_start=MIB, device="GPU:0")
    text = page("train.py", now, [], Earlier("<old>.json", "<a>.py", before))
    assert text.count("<svg") == 2 and text.count('path class="before"') == 4 and text.count('path class="after"') == 4
    assert "&lt;old&gt;.json is of &lt;a&gt;.py" in text and "<old>" not in text and "+200 %" in text
