"""Code on which a parser chokes costs its own file one line, bounded time and bounded memory, and no other file."""

from __future__ import annotations

import ast
import contextlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import forked
import pytest
from bombs import BOMBS, CHAINED, LONG, NESTED
from daily import share

from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.text import limits

resource = pytest.importorskip("resource", reason="this system does not limit a process's memory")

HEAD = "import tensorflow as tf\n"
WASTE = f"{HEAD}ds = tf.data.Dataset.range(9).repeat().cache().batch(3).prefetch(1)\n"
MEMORY = 3 << 30
SECONDS = 60
DAYS = 3
"""On how many days each kind was in a run once."""
SIZES = {**dict.fromkeys(NESTED, 190), **dict.fromkeys(CHAINED, 20_000), **dict.fromkeys(LONG, 510_000)}
JUST_UNDER = {"negative powers": 1_500, "lambdas": 2_300, "subscripts": 1_500, "tuple patterns": 9}
"""As large as is still read, of the kinds that take most time and memory."""

READ = [Counter({code: 1}) for code in ("TFM305", "TFM000")[: 2 if (3, 12) <= sys.version_info < (3, 12, 2) else 1]]
"""What is found in what is read. Python 3.12.0 and 3.12.1 cannot tell all places in what is nested that deeply."""


def check(*words: str) -> dict[str, Counter[str]]:
    """The codes found in each file of the working directory, by a program that may not use much."""
    options = ("--isolated", "--no-cache", "--select=TFM305", "--output-format=json")
    limits = {resource.RLIMIT_AS: MEMORY, resource.RLIMIT_CPU: SECONDS, resource.RLIMIT_CORE: 0}
    done = forked.check(*options, *words, limits=limits)
    assert done.stderr == ""
    found: dict[str, Counter[str]] = {}
    for record in json.loads(done.stdout):
        found.setdefault(Path(record["filename"]).stem, Counter())[record["code"]] += 1
        assert record["message"].count("\n") == 0
    assert done.returncode == (3 if any("TFM000" in codes for codes in found.values()) else 1)
    return found


def program(name: str, size: int) -> str:
    return f"{WASTE}{BOMBS[name](size)}\n"


@pytest.mark.parametrize("jobs", ["-j1", "-j2"])
def test_a_bomb_costs_its_own_file_one_line(jobs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one job in one process, without anything that could be killed: the limits of the parser hold alone."""
    monkeypatch.chdir(tmp_path)
    names = share(list(SIZES), DAYS) if jobs == "-j1" else [*list(NESTED)[::9], *list(CHAINED)[::9]]
    for number, name in enumerate(names):
        Path(f"bomb{number:03}.py").write_text(program(name, SIZES[name]))
    Path("good.py").write_text(WASTE)
    Path("quotes.md").write_text("> " * 500 + "keras\n")
    found = check(jobs, ".")
    assert found.pop("good") == {"TFM305": 1}
    for number, name in enumerate(names):
        # What is read after all has the finding of its second line; all else is one line that says why not.
        assert found[f"bomb{number:03}"] in (*READ, {"TFM002": 1}, {"TFM001": 1}), name


def test_what_is_just_let_through_takes_bounded_time_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, (name, size) in enumerate(JUST_UNDER.items()):
        limits.check(program(name, size))
        with pytest.raises(limits.TooMuch):
            limits.check(program(name, 2 * size))
        Path(f"bomb{number}.py").write_text(program(name, size))
    Path("bad.py").write_text(f"{HEAD}(")
    found = check("-j1", ".")
    assert found.pop("bad") == {"TFM002": 1}
    assert found.keys() == {f"bomb{number}" for number in range(len(JUST_UNDER))}
    assert all(codes in READ for codes in found.values())


@pytest.mark.parametrize("name", JUST_UNDER)
def test_many_small_bombs_are_a_large_one(name: str) -> None:
    """It is the work of the whole text that is limited, not that of one expression."""
    part = BOMBS[name](JUST_UNDER[name] // 2 if name in CHAINED else JUST_UNDER[name]) + "\n"
    limits.check(part)
    with pytest.raises(limits.TooMuch):
        limits.check(part * 30)


@pytest.mark.parametrize("kind", ["ipynb", "md"])
def test_a_bomb_costs_its_own_cell(kind: str) -> None:
    cells = [WASTE, *(BOMBS[name](SIZES[name]) for name in ("nots", "methods")), "f(" * 300, WASTE]
    if kind == "md":
        data = "\n".join(f"```python\n{cell}\n```\n" for cell in cells)
    else:
        listed = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": []} for cell in cells]
        data = json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    result = Linter(Config(select=("TFM305",))).lint(data.encode(), f"a.{kind}")
    assert [finding.code for finding in result.findings] == ["TFM305", *["TFM002"] * 3, "TFM305"]
    assert result.source is not None
    places = [result.source.position(finding.span.start) for finding in result.findings]
    assert len({(place.cell, place.row) for place in places}) == 5


def test_a_refused_file_is_named_with_its_place_and_what_to_do() -> None:
    text = f"{HEAD}tf.identity(1)\n\ny = 1\n{BOMBS['methods'](20_000)}\nz = 1\n"
    (finding,) = Linter(Config(select=("ALL",))).lint(text.encode(), "a.py").findings
    assert (finding.code, text[finding.span.start :].split(".")[0]) == ("TFM002", "x = a")
    assert finding.message == (
        "cannot parse: the code is nested too deeply or chained too long; simplify it or exclude the file; "
        "nothing in this part was checked or changed"
    )


PLUGIN = """
import json, sys
from tfmemlint.flake8_plugin import Plugin
for text in json.load(sys.stdin):
    print([message.split()[0] for _, _, message, _ in Plugin(None, "a.py", text.splitlines(True)).run()])
"""


def test_a_host_with_a_small_stack_survives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """flake8 calls us in its main thread, with Python's own limit of recursion."""
    monkeypatch.chdir(tmp_path)
    Path("tfmemlint.toml").write_text('select = ["TFM305"]\n')
    sizes = {"lambdas": 2_000, "defaults of lambdas": 800, "conditions": 400, "parentheses": 190, "methods": 20_000}
    texts = json.dumps([program(name, size) for name, size in sizes.items()])
    done = subprocess.run([sys.executable, "-c", PLUGIN], input=texts, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    *read, refused = map(ast.literal_eval, done.stdout.splitlines())
    assert (len(read), refused) == (4, ["TFM002"])
    assert all(Counter(codes) in READ for codes in read)


ORDINARY = {
    "a long pipeline": "x = a" + ".map(lambda x: x + 1, num_parallel_calls=AUTOTUNE)\\\n" * 100,
    "a model of many layers": "x = Sequential([\n" + "    layers.Dense(10, activation='relu'),\n" * 3_000 + "])",
    "a table": "x = [\n" + "    {'a': [1, 2.5, (3, 4)], 'b': {'c': [None, -1]}},\n" * 8_000 + "]",
    "a dispatch by elif": "if a == 0:\n    pass\n" + "elif a == 1:\n    f(a)\n" * 2_000,
    "a long text": "x = (\n" + "    'a line of a text\\n'\n" * 2_900 + ")",
    "a polynomial": "x = " + " + ".join(f"{n} * a ** {n % 7} * b ** 2" for n in range(400)),
    "lambdas in a dict": "x = {\n" + "    'a': lambda x, y=1: x if x else y,\n" * 3_000 + "}",
    "many cases": "match x:\n" + "    case {'a': [Point(x=0, y=(1 | 2)), *_]} if x: pass\n" * 1_000,
    "formatted strings": "x = f'{a:>{width}} {b[\"c\"]!r} {{}} {f(x, y=(1, 2))}'\n" * 3_000,
    "strings with brackets": "x = '''(((([[[[ {{{{ \" ' not not''' '((((' \"[[[[\"\n" * 3_000,
    "comments with brackets": "x = 1  # (((( ''' [[[[ {{\n" * 3_000,
}


@pytest.mark.parametrize("name", ORDINARY)
def test_what_people_and_generators_write_is_far_from_the_limits(name: str) -> None:
    assert limits.check(ORDINARY[name]) < limits.MAX_WORK / 2


@pytest.mark.parametrize("name", [*CHAINED, *LONG])
def test_the_estimate_looks_at_each_token_once(name: str) -> None:
    def looked_at(size: int) -> int:
        scan = limits.Scan(BOMBS[name](size))
        with contextlib.suppress(limits.TooMuch):
            scan.run()
        return scan.tokens

    assert looked_at(4_000) <= 2.1 * looked_at(2_000) + 10
