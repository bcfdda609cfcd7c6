"""The properties that every rule's sample programs must have, for the built-in rules and for third parties' packs.

Each rule has a folder such as `TFM305-cache-after-repeat`, and in it one for each case, named after what it shows, with

- `bad.py`: what the rule reports. A comment `#! TFM305` ends each line on which a finding must start; a code that is
  expected twice on a line is written twice, and codes of other rules may stand beside it. Where a line ends in a
  backslash and can hold no comment, `#!-1 TFM305` on the next one speaks of it.
- `good.py`: programs that look alike and about which no rule says anything.
- `findings.txt`: the findings of `bad.py` in full, and `fixed.py`: `bad.py` after its repair (absent where nothing is
  repaired). Both are written by `pytest --bless` or `python -m tfmemlint.dev bless` and read by a person.
- `case.toml`, optional: `unsafe-fixes = false` leaves unsafe fixes out of `fixed.py`, `also = ["TFM302"]` names other
  rules that may report something in `good.py`, `[options]` holds keys of `[tool.tfmemlint]`. One in the rule's folder
  holds for all of its cases; its `[measure]` is not for this module.

The comment `# [example]` in `bad.py` and `good.py` of one case of each rule begins what the rule's page shows; see
`tfmemlint.testing.examples`.

A pack tests all of its cases with a conftest.py that says `pytest_plugins = ["tfmemlint.testing"]` and

    @pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
    @pytest.mark.parametrize("case", cases("fixtures"), ids=str)
    def test_case(case, check, pytestconfig):
        run(check, case, bless=pytestconfig.getoption("bless"))
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmemlint.config.selectors import FAILURES
from tfmemlint.fix.apply import fix_bytes
from tfmemlint.fix.select import select_fixes
from tfmemlint.lint.engine import FileResult, lint
from tfmemlint.lint.triggers import clauses, triggered
from tfmemlint.model.calls import strict_calls
from tfmemlint.testing.cases import Case, CaseError, cases, fail, hide_from_tracebacks, load_case
from tfmemlint.testing.described import described, diff, facts, must_be, must_parse, rows
from tfmemlint.testing.examples import example, region
from tfmemlint.testing.pieces import pieces, without_comments
from tfmemlint.testing.variants import variants
from tfmemlint.text.code_words import words_of_code

if TYPE_CHECKING:
    from tfmemlint.rule import Rule

__all__ = ["CHECKS", "Case", "CaseError", "bless", "cases", "load_case", "run"]

__tracebackhide__ = hide_from_tracebacks

_CODE = re.compile(r"[A-Z]{3,6}\d{3}")
_MARKER = re.compile(r"#!([-+]\d+)?\s*([A-Z]{3,6}\d{3}(?:[\s,]+[A-Z]{3,6}\d{3})*)\s*$")


# -- running the rules ------------------------------------------------------------------------------------------------


@cache
def _rules() -> tuple[Rule, ...]:
    from tfmemlint.lint.registry import load_rules

    return load_rules()


def _rules_of(case: Case, codes: set[str]) -> tuple[Rule, ...]:
    rules = tuple(rule for rule in _rules() if rule.code in codes)
    if missing := sorted(codes - {rule.code for rule in rules}):
        hint = "is the package that holds it installed, and its module free of import errors?"
        fail(case, "", f"no rule has the code {missing[0]}", hint)
    return rules


def _bad(case: Case) -> tuple[str, Counter[tuple[int, str]], tuple[Rule, ...]]:
    """The text of `bad.py`, how often each code is expected on each of its lines, and the rules to run over it."""
    text = case.text("bad.py")
    expected: Counter[tuple[int, str]] = Counter()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        marker = _MARKER.search(token.string) if token.type == tokenize.COMMENT else None
        if marker:
            row = token.start[0] + int(marker[1] or 0)
            expected.update((row, code) for code in _CODE.findall(marker[2]))
    return text, expected, _rules_of(case, {case.code} | {code for _, code in expected})


def _lint(case: Case, data: bytes, rules: tuple[Rule, ...], name: str = "bad.py", how: str = "") -> FileResult:
    """The findings in one text. Raises CaseError where a rule crashed or the text could not be read."""
    result = _checked(case, data, rules, name)
    if failures := [f"  {each.code} {each.message}" for each in result.findings if each.code in FAILURES]:
        fail(case, name, f"the file could not be checked{how}", *failures)
    return result


@lru_cache(maxsize=32)  # the checks of a case, and a repair after a repair, ask for much the same
def _checked(case: Case, data: bytes, rules: tuple[Rule, ...], name: str = "bad.py") -> FileResult:
    with strict_calls():
        return lint(data, str(case.file(name)), case.config, rules)


def _repair(case: Case, data: bytes, rules: tuple[Rule, ...]) -> bytes:
    """The bytes after all fixes that the case allows; a fix that had to be taken back fails the case."""
    done = fix_bytes(
        data,
        lambda text: _checked(case, text, rules),
        lambda found: select_fixes(found, unsafe=case.unsafe_fixes),
        _lint(case, data, rules),
    )
    if problems := [each.message for each in done.failed] + [each.reason for each in done.refused]:
        fail(case, "bad.py", "a fix was taken back", *problems)
    return done.data


# -- the checks -------------------------------------------------------------------------------------------------------


def markers(case: Case) -> None:
    """In `bad.py` findings start on the marked lines and nowhere else."""
    text, expected, rules = _bad(case)
    if not any(code == case.code for _, code in expected):
        fail(case, "bad.py", f"no line is marked with `#! {case.code}`")
    result = _lint(case, text.encode(), rules)
    found: Counter[tuple[int, str]] = Counter()
    messages: dict[tuple[int, str], str] = {}
    for row, finding in rows(result):
        found[row, finding.code] += 1
        messages[row, finding.code] = finding.message
    lines = text.split("\n")
    problems = []
    for row, code in sorted(expected.keys() | found.keys()):
        want, got = expected[row, code], found[row, code]
        if want != got:
            said = f": {messages[row, code]}" if got else ""
            problems.append(f"  line {row}: {code} is marked {want} times and found {got} times{said}")
            problems.append(f"    {lines[row - 1]}")
    if problems:
        hint = f"what the model knows: python -m tfmemlint.dev dump-model {case.folder / 'bad.py'}"
        fail(case, "bad.py", "the findings are not where the `#!` markers are", *problems, hint)


def good(case: Case) -> None:
    """In `good.py` the rule is silent, and so are all rules of the default selection that `also` does not name."""
    text = case.text("good.py")
    _rules_of(case, {case.code})
    rules = tuple(rule for rule in _rules() if rule.code == case.code or (rule.default and rule.code not in case.also))
    lines = text.split("\n")
    result = _lint(case, text.encode(), rules, "good.py")
    problems = [f"  line {row}: {each.code} {each.message}\n    {lines[row - 1]}" for row, each in rows(result)]
    if problems:
        hint = "`also` in case.toml allows other rules' codes"
        fail(case, "good.py", "nothing may be reported here", *problems, hint)


def findings(case: Case) -> None:
    """The findings of `bad.py` are those of `findings.txt`, in every word, and each fix leaves code that parses."""
    text, _, rules = _bad(case)
    result = _lint(case, text.encode(), rules)
    must_be(case, "findings.txt", case.text("findings.txt"), described(result))
    assert result.source is not None
    for finding in result.findings:
        if finding.fix is not None:
            must_parse(case, f"fix '{finding.fix.message}'", result.source.rewrite(finding.fix.edits))
            if finding.code == case.code and finding.fix.safety not in type(_rules_of(case, {case.code})[0]).fix_safety:
                fail(case, "bad.py", f"a fix is {finding.fix.safety.value}, which the rule's fix_safety does not name")


def fixed(case: Case) -> None:
    """Repairing `bad.py` gives `fixed.py`, which parses; a second repair changes nothing."""
    text, _, rules = _bad(case)
    repaired = _repair(case, text.encode(), rules)
    expected = case.text("fixed.py") if repaired != text.encode() or case.file("fixed.py").exists() else text
    must_be(case, "fixed.py", expected, repaired.decode())
    must_parse(case, "fixed.py", repaired)
    again = _repair(case, repaired, rules)
    if again != repaired:
        difference = diff(repaired.decode(), again.decode(), "once", "twice")
        fail(case, "fixed.py", "a second repair changes it again", difference)


def layouts(case: Case) -> None:
    """Line ends, byte order mark, encoding, tabs, aliases and other import styles change no finding and no repair."""
    text, _, rules = _bad(case)
    before = _lint(case, text.encode(), rules)
    repaired = _repair(case, text.encode(), rules).decode()
    for variant in variants(text):
        data = variant.apply(text)
        after = _lint(case, data, rules, how=f" with {variant.name}")
        old, new = facts(before, variant, variant.rows), facts(after, variant, 0)
        if old != new:
            difference = diff("\n".join(old), "\n".join(new), "as written", variant.name)
            fail(case, "bad.py", f"other findings with {variant.name}", difference)
        result = _repair(case, data, rules)
        must_parse(case, f"the repair with {variant.name}", result)
        if variant.undo is not None:
            must_be(case, f"bad.py with {variant.name}, repaired", repaired, variant.undo(result))


def examples(case: Case) -> None:
    """Pasted below the imports of their files, the first example of the page is reported and the second is not."""
    if example(case) is None:
        return
    rules = _rules_of(case, {case.code})
    for name in ("bad.py", "good.py"):
        shown = region(case, name)
        assert shown is not None
        found = _lint(case, shown.pasted.encode(), rules, name).findings
        if bool(found) != (name == "bad.py"):
            problem = f"{found[0].code} {found[0].message}" if found else f"{case.code} says nothing"
            fail(case, name, f"the example by itself, with the imports above it: {problem}", shown.pasted)


def words(case: Case) -> None:
    """What wakes the rule stands in the code that it reports: words beside it add no finding, and none is lost where
    comments have none."""
    text, expected, rules = _bad(case)
    plain = Counter((row, found.code) for row, found in rows(_lint(case, without_comments(text).encode(), rules)))
    if plain != expected:
        difference = ", ".join(f"{code} in line {row}" for row, code in sorted((plain - expected) + (expected - plain)))
        fail(case, "bad.py", f"without the words of its comments other findings: {difference}")
    rules = _rules_of(case, {case.code})
    waking = " ".join(sorted({min(clause) for rule in rules for each in rule.handlers for clause in clauses(each)}))
    for piece in dict.fromkeys(pieces(text, {row for row, code in expected if code == case.code})):
        if triggered(rules, words_of_code(piece)) or _lint(case, piece.encode(), rules).findings:
            continue
        found = _lint(case, f'{piece}f"{waking}"\n'.encode(), rules).findings
        if found:
            hint = "what the handler waits for can be written in more ways than its names say"
            what = "a string with the words of the rule makes it report this"
            fail(case, "bad.py", what, piece, found[0].message, hint)


CHECKS: tuple[Callable[[Case], None], ...] = (markers, good, findings, fixed, layouts, examples, words)
"""All properties of a case; each raises CaseError where it does not hold."""


def run(check: Callable[[Case], None], case: Case, *, bless: bool = False) -> None:
    """Run one check; with `bless` write `findings.txt` and `fixed.py` first."""
    if bless:
        globals()["bless"](case)
    check(case)


def bless(case: Case) -> list[Path]:
    """Write `findings.txt` and `fixed.py` as the rules have it now; returns the files that changed."""
    text, _, rules = _bad(case)
    wanted: dict[str, bytes | None] = {"findings.txt": described(_lint(case, text.encode(), rules)).encode()}
    repaired = _repair(case, text.encode(), rules)
    wanted["fixed.py"] = repaired if repaired != text.encode() else None
    changed = []
    for name, data in wanted.items():
        path = case.file(name)
        if data != (path.read_bytes() if path.exists() else None):
            changed.append(path)
            if data is None:
                path.unlink()
            else:
                path.write_bytes(data)
    return changed


# -- pytest -----------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: Any) -> None:
    """Adds `--bless` to pytest."""
    parser.addoption("--bless", action="store_true", help="write the cases' findings.txt and fixed.py")
