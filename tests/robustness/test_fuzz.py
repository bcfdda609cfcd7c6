"""Whatever bytes a file holds, a run ends with a result and never with a failure of the tool."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
import tfmemlint_fixtures
from daily import share
from hypothesis import given, settings
from hypothesis import strategies as st
from wrapped import NOWHERE

from tfmemlint.config.settings import Config
from tfmemlint.lint.engine import FileResult
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.recursion import with_deep_stack
from tfmemlint.run.repair import Gate, repair

BAD = sorted(Path(tfmemlint_fixtures.__path__[0]).glob("*/*/bad.py"))
SAMPLES = [path.read_bytes() for path in BAD]
DAYS = 3
"""On how many days each sample has been tried once; in another layout each time."""
LINTER = Linter(Config(select=("ALL",), unsafe_fixes=True))


def lint(data: bytes, path: str = NOWHERE, linter: Linter = LINTER) -> FileResult:
    result = linter.lint(data, path)
    failures = [finding.message for finding in result.findings if finding.code == "TFM000"]
    assert not failures, data
    if result.source is not None:
        for finding in result.findings:
            assert 0 <= finding.span.start <= finding.span.end <= len(result.source.text)
            result.source.position(finding.span.start)
    return result


@pytest.mark.parametrize("path", ["nowhere/a.py", "nowhere/a.pyi", "nowhere/a.ipynb", "nowhere/a.md", "nowhere/a.rst"])
@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes(path: str, data: bytes) -> None:
    lint(b"import tensorflow as tf\n" + data, path)
    lint(data + b"keras", path)


@given(st.sampled_from(SAMPLES), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_files_that_end_too_early(sample: bytes, part: float) -> None:
    lint(sample[: int(len(sample) * part)])


@given(st.sampled_from(SAMPLES), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_lines_out_of_order_and_words_changed(sample: bytes, seed: int) -> None:
    """Programs that parse now and then and mean something else: names unbound, calls without arguments, loops moved."""
    chance = random.Random(seed)
    lines = sample.splitlines(keepends=True)
    for _ in range(3):
        match chance.randrange(4):
            case 0:
                lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
            case 1:
                del lines[chance.randrange(len(lines))]
            case 2:
                place = chance.randrange(len(lines))
                words = lines[place].split(b"(")
                lines[place] = b"(".join(chance.sample(words, len(words)))
            case _:
                place = chance.randrange(len(lines))
                lines[place] = lines[place].replace(chance.choice([b"1", b"(", b".", b"tf", b",", b"="]), b"", 1)
        if not lines:
            return
    lint(b"".join(lines))


LAYOUTS = {"CRLF": ("\r\n", b""), "CR and a mark": ("\r", b"\xef\xbb\xbf")}


@pytest.mark.parametrize("layout", share(list(LAYOUTS), len(LAYOUTS)))
@pytest.mark.parametrize("path", share(BAD, DAYS), ids=lambda path: path.parent.name)
def test_repairs_end_and_are_final(path: Path, layout: str) -> None:
    """In any layout the repaired file parses and has nothing more to repair: here below a tab, with other line ends,
    which change from day to day."""
    end, mark = LAYOUTS[layout]
    lines = path.read_text("utf-8").splitlines(keepends=True)
    text = "if True:\n" + "".join(f"\t{line}" if line.strip() else line for line in lines)
    data = mark + text.replace("\n", end).encode()
    linter = Linter(LINTER.config)
    linter.lint = cache(linter.lint)  # type: ignore[method-assign]
    assert "TFM002" not in {finding.code for finding in lint(data, linter=linter).findings}
    done = repair(data, NOWHERE, linter, Gate())
    assert not done.failed
    compile(done.data, "a.py", "exec")
    assert repair(done.data, NOWHERE, linter, Gate()).data == done.data


DEEP = {
    "brackets": "x = " + "(" * 150 + "1" + ")" * 150,
    "calls in a chain": "x = tf" + ".cache()" * 600,
    "sums": "x = " + " + ".join(["tf.zeros(3)"] * 600),
    "elif": "if a:\n  pass\n" + "elif a:\n  x = tf.zeros(3)\n" * 1200,
    "blocks": "\n".join(" " * depth + "if a:" for depth in range(90)) + "\n" + " " * 90 + "x = tf.zeros(3)",
    "lambdas": "x = " + "lambda: " * 150 + "tf.zeros(3)",
    "subscripts": "x = tf" + "[0]" * 600,
    "nots": "x = " + "not " * 600 + "tf",
    "a long list": "x = [" + "tf.zeros(3), " * 3000 + "]",
    "a long line": "x = '" + "tf" * 200_000 + "'",
    "many functions": "".join(f"def f{n}(x):\n    return f{n + 1}(tf.zeros(x))\n" for n in range(400)) + "f0(3)",
    "many assignments": "x = tf.zeros(3)\n" + "x = x + x\n" * 1500,
    "many branches": "x = tf.zeros(3)\n" + "if a:\n    x = x + 1\nelse:\n    x = [x]\n" * 150,
    "functions that call each other": "def f(x):\n    return g(x)\ndef g(x):\n    return f(x)\ny = f(tf.zeros(3))",
}


@pytest.mark.parametrize("name", DEEP)
def test_code_that_is_deep_or_long(name: str) -> None:
    with_deep_stack(lambda: lint(f"import tensorflow as tf\n{DEEP[name]}\n".encode()))
