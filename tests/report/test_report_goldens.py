"""Every format of the sample run against a file that a person has read; `pytest --bless` writes the files anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfmemlint.report import FORMATS

GOLDEN = Path(__file__).parent / "golden"

CASES = {
    "text": ("text", {}),
    "text_color": ("text", {"color": True}),
    "text_by_bytes": ("text", {"sort": "bytes", "show_fixes": False}),
    "text_statistics": ("text", {"statistics": True}),
    "concise": ("concise", {}),
    "concise_statistics": ("concise", {"statistics": True}),
    **{name: (name, {}) for name in FORMATS[2:]},
}


@pytest.mark.parametrize("case", CASES)
def test_golden(case, report, pytestconfig):
    name, changes = CASES[case]
    path = GOLDEN / f"{case}.txt"
    made = report(name, **changes)
    if pytestconfig.getoption("bless"):
        path.write_bytes(made.encode())
    assert made == path.read_bytes().decode()


def test_every_format_has_a_golden():
    assert {name for name, _ in CASES.values()} == set(FORMATS)
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)
