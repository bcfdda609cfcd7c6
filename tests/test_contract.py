"""What every built-in rule must have besides its checks: a page, sample programs, a module of its name."""

import ast
import inspect
import json
import re
from pathlib import Path

import pytest
import tfmemlint_fixtures

from tfmemlint.dev.docs import write_docs
from tfmemlint.lint.engine import lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.report.rule_page import rule_page
from tfmemlint.rule import HEADINGS, Rule
from tfmemlint.testing import load_case
from tfmemlint.verify.pages.report import figure

ROOT = Path(__file__).parents[1]
FIXTURES = Path(tfmemlint_fixtures.__path__[0])
EVIDENCE = json.loads((ROOT / "docs" / "evidence.json").read_text("utf-8"))
RULES = [rule for rule in load_rules() if type(rule).__module__.startswith("tfmemlint_rules.")]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


@every_rule
def test_page_has_all_headings_in_order_and_something_under_each(rule: Rule) -> None:
    page = rule_page(rule)
    assert tuple(re.findall(r"^## .*$", page, re.MULTILINE)) == HEADINGS
    for section in re.split(r"^## .*$", page, flags=re.MULTILINE)[1:]:
        assert section.strip(" \n.-"), f"{rule.code}: an empty section"
    assert page.count("```python") == 2, f"{rule.code}: the page shows not two examples"
    assert "```" not in (rule.__doc__ or ""), f"{rule.code}: examples come from the rule's cases"


@every_rule
def test_module_and_name_agree(rule: Rule) -> None:
    module = type(rule).__module__.rpartition(".")[2]
    assert rule.name == module.replace("_", "-")
    assert re.fullmatch(r"TFM[1-9]\d\d", rule.code)
    assert not rule.summary.endswith("."), "a summary is a line in a table, not a sentence"


@every_rule
def test_case_folder_exists_and_marks_the_findings(rule: Rule) -> None:
    folder = FIXTURES / f"{rule.code}-{rule.name}" / "basic"
    for name in ("bad.py", "good.py", "findings.txt"):
        assert (folder / name).is_file(), f"{rule.code} lacks basic/{name}"
    assert re.search(rf"#!.*\b{rule.code}\b", (folder / "bad.py").read_text("utf-8"))


@every_rule
def test_unit_tests_are_left_alone_where_the_rule_says_so(rule: Rule) -> None:
    case = load_case(FIXTURES / f"{rule.code}-{rule.name}" / "basic")
    data = case.text("bad.py").encode()
    plain, test = (lint(data, name, case.config, [rule]).findings for name in ("bad.py", "test_bad.py"))
    assert plain
    assert test == (plain if rule.in_tests else ())


@every_rule
def test_fix_section_agrees_with_the_metadata(rule: Rule) -> None:
    section = rule_page(rule).split("## Fix safety")[1].split("## ")[0].lower()
    for safety in rule.fix_safety:
        words = {"safe": r"\bsafe\b", "unsafe": r"\bunsafe\b", "display": r"\b(shown|suggest\w*|display\w*)\b"}
        assert re.search(words[safety.value], section), f"{rule.code}: 'Fix safety' leaves out {safety.value} fixes"


# Measured figures have decimal units and name times; sizes that are computed from shapes have binary units.
MEASURED = re.compile(
    r"\d\s?(ms|µs|s|seconds?|minutes?|[kKMG]B)\b|(\d|ten|twenty|hundred|thousand) times (as|more|less|slow|fast|long)"
)


@every_rule
def test_measured_figures_stand_in_the_evidence_and_not_in_a_rule(rule: Rule) -> None:
    """So neither a page nor a message can say something else than what was measured."""
    tree = ast.parse(inspect.getsource(inspect.getmodule(type(rule))))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert [text for text in texts if MEASURED.search(" ".join(text.split()))] == []


@pytest.mark.parametrize("text", ["about 130 ms a call", "20\ntimes as long", "2238 MB against", "ten times slower"])
def test_a_measured_figure_is_known_by_its_unit(text: str) -> None:
    assert MEASURED.search(" ".join(text.split()))


@pytest.mark.parametrize("code", sorted(EVIDENCE["rules"]))
def test_measured_figures_can_be_told_apart_on_the_page(code: str) -> None:
    kept = EVIDENCE["rules"][code]
    sides = [figure(kept[side], kept["unit"], kept["metric"]) for side in ("before", "after")]
    assert sides[0] != sides[1]
    assert f"| {sides[0]} | {sides[1]} |" in (ROOT / "docs" / "rules" / f"{code}.md").read_text("utf-8")


def test_every_case_folder_belongs_to_a_rule() -> None:
    codes = {rule.code for rule in RULES}
    for folder in FIXTURES.iterdir():
        if folder.is_dir() and folder.name[0] not in "_.":
            assert folder.name.partition("-")[0] in codes, f"{folder.name} is about no rule"


def test_pages_are_fresh() -> None:
    stale = [path.name for path in write_docs(ROOT / "docs" / "rules", check=True)]
    assert stale == [], "run `python -m tfmemlint.dev docs`"
