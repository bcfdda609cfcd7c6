"""`python -m tfmemlint.dev lintcheck`: two runs, what the comparison prints and its exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.dev import __main__ as dev


def finding(place: str, message: str = "words", **more: Any) -> dict[str, Any]:
    """What `check --output-format jsonl` writes, for a place such as `/a/train.py:3:7` or `/a/notes.ipynb:2:3:7`."""
    path, *numbers = place.split(":")
    cell, row, column = [None, *map(int, numbers)][-3:]
    end = {"row": row, "column": (column or 0) + 4}
    record = {"code": "TFM305", "name": "cache-after-repeat", "severity": "warning", "message": message}
    record |= {"filename": path, "location": {"row": row, "column": column}, "end_location": end, "cell": cell}
    return record | {"bytes": None, "url": None, "related": [], "fix": None} | more


def lintcheck(folder: Path, before: str, after: str) -> int:
    for name, text in (("before", before), ("after", after)):
        (folder / name).write_text(text)
    return dev.main(["lintcheck", str(folder / "before"), str(folder / "after")])


def lines(*findings: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in findings)


A, B = finding("/old/p/a.py:3:7"), finding("/old/p/b.py:4:1")
REPAIR = {"applicability": "safe", "message": "swap", "edits": []}


@pytest.mark.parametrize(
    ("before", "after", "counts", "places"),
    [
        pytest.param([A], [A, B], (1, 0, 0), ["+ b.py:4:1 words"], id="gained"),
        pytest.param([A, B], [B], (0, 1, 0), ["- a.py:3:7 words"], id="lost"),
        pytest.param(
            [A, B],
            [finding("/old/p/a.py:3:7", "other"), B],
            (0, 0, 1),
            ["~ a.py:3:7 other", "    - message: words", "    + message: other"],
            id="other words",
        ),
        pytest.param(
            [A],
            [{**A, "bytes": 1024}],
            (0, 0, 1),
            ["~ a.py:3:7 words", "    - bytes: null", "    + bytes: 1024"],
            id="another price",
        ),
        pytest.param(
            [{**A, "fix": REPAIR}],
            [A],
            (0, 0, 1),
            [
                "~ a.py:3:7 words",
                '    - fix: {"applicability": "safe", "edits": [], "message": "swap"}',
                "    + fix: null",
            ],
            id="no repair",
        ),
        pytest.param(
            [A],
            [finding("/old/p/a.py:3:8")],
            (1, 1, 0),
            ["- a.py:3:7 words", "+ a.py:3:8 words"],
            id="another place",
        ),
        pytest.param([A, A], [A], (0, 1, 0), ["- a.py:3:7 words"], id="two at one place"),
        pytest.param(
            [finding("/old/p/n.ipynb:1:3:7")],
            [finding("/old/p/n.ipynb:2:3:7")],
            (1, 1, 0),
            ["- n.ipynb:cell 1:3:7 words", "+ n.ipynb:cell 2:3:7 words"],
            id="another cell",
        ),
        pytest.param(
            [finding("/old/p/sub/a.py:3:7"), B],
            [finding("/new/p/sub/a.py:3:7")],
            (0, 1, 0),
            ["- b.py:4:1 words"],
            id="another root",
        ),
        pytest.param(
            [finding("/old/p/sub/a.py:3:7")],
            [finding("/new/p/sub/a.py:3:7"), finding("/new/p/c.py:1:1")],
            (1, 0, 0),
            ["+ c.py:1:1 words"],
            id="another root, one run with fewer folders",
        ),
        pytest.param([], [A], (1, 0, 0), ["+ a.py:3:7 words"], id="nothing before"),
        pytest.param([], [finding("/p/a.py:1:1", "a\x1b[2Jb")], (1, 0, 0), ["+ a.py:1:1 a\\x1b[2Jb"], id="controls"),
    ],
)
def test_differences_are_counted_and_named(
    before: list[dict[str, Any]],
    after: list[dict[str, Any]],
    counts: tuple[int, int, int],
    places: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert lintcheck(tmp_path, lines(*before), lines(*after)) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["gained", "lost", "changed"]
    assert printed[1].split() == ["TFM305", *map(str, counts)]
    assert printed[2].split() == ["total", *map(str, counts)]
    assert printed[3:] == [
        f"{len(before)} findings before, {len(after)} after",
        "",
        "TFM305 cache-after-repeat",
        *places,
    ]


def test_rules_come_in_order_and_their_places_below_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = [("TFM501", "b.py:2:1"), ("TFM305", "b.py:10:1"), ("TFM305", "b.py:9:1"), ("TFM305", "a.py:20:1")]
    after = [finding(f"/p/{place}", code=code, name="name") for code, place in codes]
    assert lintcheck(tmp_path, "", lines(*after)) == 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[1:4]] == ["TFM305", "TFM501", "total"]
    listed = ["TFM305 name", "+ a.py:20:1 words", "+ b.py:9:1 words", "+ b.py:10:1 words"]
    assert printed[5:] == ["", *listed, "", "TFM501 name", "+ b.py:2:1 words"]


RELATED = {"message": "batched here", "location": {"row": 1, "column": 1}, "end_location": {"row": 1, "column": 2}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", "[]\n", id="no findings"),
        pytest.param(lines(A, B), lines(B, A), id="another order"),
        pytest.param(lines(A, B), json.dumps([A, B], indent=2), id="JSON against lines"),
        pytest.param(lines(A), lines({**A, "url": "https://example.org/TFM305"}), id="another address of the page"),
        pytest.param(
            lines({**A, "related": [{**RELATED, "filename": "/old/p/a.py"}]}),
            lines({**finding("/new/a.py:3:7"), "related": [{**RELATED, "filename": "/new/a.py"}]}),
            id="another root",
        ),
    ],
)
def test_equal_runs_differ_in_nothing(
    before: str, after: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lintcheck(tmp_path, before, after) == 0
    assert capsys.readouterr().out.startswith("no difference: ")


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (lines(A) + "{", "after:2: this is not JSON"),
        ("[1", "after: this is not JSON"),
        ("warning: a log\n", "after:1: this is not JSON"),
        ("[" * 100_000, "after: this is not JSON"),
        (lines({**A, "message": None}), "after:1: this is not a finding as `tfmemlint check --output-format jsonl`"),
        (lines({**A, "location": 3}), "after:1: this is not a finding"),
        (lines({**A, "cell": "3"}), "after:1: this is not a finding"),
        ("[[]]", "after: entry 1: this is not a finding"),
    ],
)
def test_what_is_no_run_is_told_in_one_line(
    after: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lintcheck(tmp_path, lines(A), after) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert captured.err.count("\n") == 1


def test_a_missing_run_is_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["lintcheck", str(tmp_path / "gone"), str(tmp_path / "gone")]) == 2
    assert capsys.readouterr().err == f"tfmemlint.dev: {tmp_path / 'gone'}: No such file or directory\n"
