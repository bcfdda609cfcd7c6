"""What is found in a sample program does not depend on how it is written: names, imports, variables, functions."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest
import tfmemlint_fixtures
from daily import is_today
from rewritings import (
    FromImports,
    NotApplied,
    PartsByImport,
    PartsByName,
    RenameVariables,
    Rewriting,
    Rewritten,
    imported,
    parsed,
    rewrite,
)
from rewritings_layout import Guarded, NameArguments, NameNumbers, SplitChains, StatementsMain, WholeMain

from tfmemlint.lint.engine import FileResult, lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.rule import Rule
from tfmemlint.testing import Case, cases, load_case

CASES = cases(tfmemlint_fixtures.__path__[0])
PROGRAMS = [(case, name) for case in CASES for name in ("bad.py", "good.py")]
DAYS = 6
"""On how many days the suite has written each program once in each other way; `make rewritings` takes all."""

REWRITINGS = [
    Rewriting("variables renamed", RenameVariables, 0.85),
    Rewriting("from imports", FromImports, 0.75),
    Rewriting("parts imported", PartsByImport, 0.6),
    Rewriting("parts named", PartsByName, 0.45),
    Rewriting("chains split", SplitChains, 0.28),
    Rewriting("arguments named", NameArguments, 0.6),
    Rewriting("numbers named", NameNumbers, 0.7),
    Rewriting("in main", WholeMain, 0.6),
    Rewriting("statements in main", StatementsMain, 0.25),
    Rewriting("guarded", Guarded, 0.6),
]


RENAMES_OR_MOVES = (RenameVariables, WholeMain, StatementsMain, Guarded)
"""What makes another program of one whose names other modules import."""

NAMES_SAY_IT = ("TFM310-dataset-materialized/names", "TFM316", "TFM904")
"""Cases that show what a variable's name says (`text_files`, `num_devices`): renaming takes away evidence."""

SCRIPTS = ("TFM302-missing-prefetch/viewer",)
"""Cases in which all that becomes of a function's pipeline is seen: where the module is run by itself (`__name__`) says
nothing of others that take the function from it."""

SWITCHED = ("TFM504-tensor-leaks-from-trace/switched-eager",)
"""Cases whose module sets something for all of TensorFlow when it is imported: a function that does so, or a guarded
block, says nothing of what runs without it."""

HELD = ("TFM902-session-made-in-loop/basic",)
"""Cases in which nothing holds what a call is given, which a name for it would do."""


@cache
def _all_rules() -> tuple[Rule, ...]:
    return load_rules()


@cache
def _rules(code: str, of_others: bool) -> tuple[Rule, ...]:
    return tuple(rule for rule in _all_rules() if rule.code == code or (of_others and rule.default))


def _rows(result: FileResult) -> set[tuple[str, int]]:
    """Rule and line of each finding; none in a file that does not use TensorFlow."""
    if result.skipped:
        return set()
    assert result.source is not None
    return {(f.code, result.source.position(f.span.start).row) for f in result.findings}


@cache
def _imported_elsewhere(path: Path) -> bool:
    """Whether another module of the folder imports a program, which is then to have the same names as before."""
    others = (each.read_text(encoding="utf-8") for each in path.parent.rglob("*.py") if each != path)
    return any(path.stem in text and path.stem in imported(parsed(text)) for text in others)


@cache
def _before(folder: Path, name: str, of_others: bool = False) -> set[tuple[str, int]]:
    case = load_case(folder)
    result = lint(case.text(name).encode(), str(case.file(name)), case.config, _rules(case.code, of_others))
    return _rows(result)


def _after(case: Case, name: str, new: Rewritten, of_others: bool) -> set[tuple[str, int]]:
    result = lint(new.text.encode(), str(case.file(name)), case.config, _rules(case.code, of_others))
    assert result.source is not None or result.skipped
    return {(f.code, new.lines.get(f.span.start, 0)) for f in result.findings}


def different(case: Case, name: str, rewriting: Rewriting, of_others: bool = False) -> list[str] | None:
    """What a rewriting changes in the findings of a program, of the rule whose case it is or of all; None where it is
    not applied."""
    text = case.text(name)
    if rewriting.make in RENAMES_OR_MOVES and _imported_elsewhere(case.file(name)):
        return None
    if rewriting.make is RenameVariables and str(case).startswith(NAMES_SAY_IT):
        return None
    if rewriting.make is Guarded and str(case).startswith(SCRIPTS):
        return None
    if rewriting.make in (WholeMain, StatementsMain, Guarded) and str(case).startswith(SWITCHED):
        return None
    if rewriting.make is NameArguments and str(case).startswith(HELD):
        return None
    try:
        new = rewrite(text, rewriting.make)
    except NotApplied:
        return None
    before, after = _before(case.folder, name, of_others), _after(case, name, new, of_others)
    lines = text.split("\n")
    return [
        f"{case}/{name}:{row}: {code} {'lost' if (code, row) in before else 'new'} with {rewriting.name}"
        f": {lines[row - 1].strip()}"
        for code, row in sorted(before ^ after)
    ]


@pytest.mark.parametrize("rewriting", REWRITINGS, ids=lambda rewriting: rewriting.name)
def test_rewriting_changes_no_finding(rewriting: Rewriting) -> None:
    programs = [each for number, each in enumerate(PROGRAMS) if is_today(number // 2, DAYS)]
    results = [(case, different(case, name, rewriting)) for case, name in programs]
    problems = [problem for _, result in results for problem in result or ()]
    assert problems == []
    # The examples of pages and the scripts of small projects are a few lines: there is often nothing to rewrite.
    applied = [result is not None for case, result in results if case.folder.name not in ("example", "across-modules")]
    assert sum(applied) >= rewriting.share * len(applied)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_crlf_changes_nothing_in_a_good_program(case: Case) -> None:
    data = case.text("good.py").replace("\n", "\r\n").encode()
    result = lint(data, str(case.file("good.py")), case.config, _rules(case.code, False))
    assert _rows(result) == _before(case.folder, "good.py")


def main() -> int:
    """Each rewriting of each sample under all rules of the default selection: minutes, where the suite asks each
    sample's own rule alone."""
    problems = [
        problem
        for rewriting in REWRITINGS
        for case, name in PROGRAMS
        for problem in different(case, name, rewriting, of_others=True) or ()
    ]
    print(*problems, f"{len(problems)} findings depend on how a sample is written", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
