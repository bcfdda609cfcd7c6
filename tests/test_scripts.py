"""Python files with lines that only IPython understands."""

from __future__ import annotations

import pytest

from tfmemlint.config.settings import Config
from tfmemlint.finding import Edit
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules, select
from tfmemlint.text.read import read_source
from tfmemlint.text.scripts import ScriptSource
from tfmemlint.text.source import Position, RewriteError, Source

EXPORT = """# coding: utf-8
import tensorflow as tf
%matplotlib inline
!wget -q https://example.org/a.zip \\
    -O /tmp/a.zip
files = !ls /tmp
if files:
    %time total = sum([1,
        2])
    %time total = sum([1, 2])
ds = tf.data.TFRecordDataset("a")
"""


def source_of(text: str) -> Source:
    return read_source(text.encode(), "export.py")


def test_lines_for_ipython_are_masked_and_all_others_keep_their_places() -> None:
    source = source_of(EXPORT.replace("    %time total = sum([1,\n        2])\n", ""))
    assert isinstance(source, ScriptSource)
    assert source.text.split("\n")[2:9] == [
        *("pass", "pass", "", "files = get_ipython()", "if files:", "    total = sum([1, 2])"),
        'ds = tf.data.TFRecordDataset("a")',
    ]
    assert source.position(source.text.index("TFRecord")) == Position(9, 14)
    assert source.offset(9, 14) == source.text.index("TFRecord")
    assert source.line_text(3) == "%matplotlib inline"
    assert [source.position(span.start).row for span in source.commands] == [3, 4, 5, 6, 8]


@pytest.mark.parametrize(
    "text",
    [
        "import keras\nx = 8 \\\n% 3\n",
        'import keras\nx = """\n%matplotlib inline\n"""\n',
        "import keras\nx = (8\n% 3)\n",
        "import keras\n%matplotlib inline\nprint 'two'\n",  # no Python without the command either
        EXPORT,  # a command with half a statement behind it
        "import keras\ndef f(:\n",
    ],
)
def test_files_that_only_the_commands_do_not_keep_from_being_python_stay_as_they_are(text: str) -> None:
    assert not isinstance(source_of(text), ScriptSource)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_repairs_leave_the_commands_alone(end: str) -> None:
    text = "import keras\n%matplotlib inline\nx = f(8)\n!pip install a".replace("\n", end)
    source = source_of(text)
    at = source.text.index("8")
    assert source.rewrite([Edit(at, at + 1, "9")]).decode() == text.replace("8", "9")
    at = source.text.index("pass")
    with pytest.raises(RewriteError):
        source.rewrite([Edit(at, at + 4, "x = 1")])


def test_what_stands_beside_the_commands_is_checked_and_one_finding_says_how() -> None:
    text = EXPORT.replace("    %time total = sum([1,\n        2])\n", "") + "ds = ds.batch(2).shuffle(500)\n"
    result = lint(text.encode(), "export.py", Config(), select(load_rules(), Config()))
    assert result.source is not None
    places = [(finding.code, result.source.position(finding.span.start).row) for finding in result.findings]
    assert places == [("TFM002", 3), ("TFM307", 10)]
    assert "without 5 such lines" in result.findings[0].message
