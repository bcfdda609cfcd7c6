"""Pages for rules, made from their docstrings, metadata and cases, and from the measurements in `evidence.json`."""

from __future__ import annotations

import ast
import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmemlint.dev.families import FAMILIES
from tfmemlint.dev.questions import with_questions
from tfmemlint.lint.builtin_codes import OWN_RULES, OwnRule
from tfmemlint.lint.registry import load_rules
from tfmemlint.report.rule_page import EXAMPLES, MEASURED, rule_page
from tfmemlint.testing.cases import Case, cases
from tfmemlint.testing.examples import Example, examples

if TYPE_CHECKING:
    from tfmemlint.rule import Rule

_MADE = "<!-- Made by `python -m tfmemlint.dev docs` from the rule's docstring and its cases; edit those. -->"
_INDEX_MADE = "<!-- Made by `python -m tfmemlint.dev docs` from the rules; edit those. -->"


@dataclass(frozen=True)
class Material:
    """What pages are made of besides the rules themselves."""

    examples: Mapping[str, Any] | None = None
    """The table of examples; without it the one that is installed with each rule."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The content of `evidence.json`: the only source of measured figures."""
    programs: Mapping[str, str] = field(default_factory=dict)
    """What the measured program with the finding does, by code."""


def write_docs(
    out: Path,
    *,
    rules: Path = Path("rules"),
    fixtures: Path = Path("fixtures"),
    prefix: str = "TFM",
    check: bool = False,
) -> list[Path]:
    """Write the pages and the index into `out`, and the cases' examples and what was measured beside the modules in the
    folder `rules`.

    Pages of rules that are gone are deleted. A `contributing.md` beside `out` gets its table of questions made anew.
    Returns the files that differed; with `check` they stay as they are. Raises CaseError where
    the marked regions of the cases are not well formed.
    """
    shown = example_table(cases(fixtures), prefix) if fixtures.is_dir() else None
    material = Material(shown, _evidence(out.parent / "evidence.json"), _measured_programs(fixtures))
    wanted: dict[Path, str | None] = {out / name: text for name, text in pages(material, prefix)}
    for path in out.glob(f"{prefix}*.md"):
        wanted.setdefault(path, None)
    if shown is not None and rules.is_dir():
        wanted[rules / EXAMPLES] = json.dumps(shown, indent=1) + "\n"
        if measured := measured_table(material, prefix):
            wanted[rules / MEASURED] = json.dumps(measured, indent=1) + "\n"
    guide = out.parent / "contributing.md"
    if guide.exists():
        wanted[guide] = with_questions(guide.read_text("utf-8"))
    changed = []
    for path, text in sorted(wanted.items()):
        if text == (path.read_text("utf-8") if path.exists() else None):
            continue
        changed.append(path)
        if check:
            continue
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
    return changed


def example_table(found: Iterable[Case], prefix: str = "TFM") -> dict[str, dict[str, Any]]:
    """The examples of the cases by code, as `examples.json` holds them: code as lists of lines."""

    def entry(shown: Example) -> dict[str, Any]:
        return {"first": shown.first.splitlines(), "then": shown.then, "second": shown.second.splitlines()}

    return {code: entry(shown) for code, shown in examples(found).items() if code.startswith(prefix)}


def measured_table(material: Material, prefix: str = "TFM") -> dict[str, str]:
    """What was measured of the rules by code, as Markdown without a heading."""
    found = ((rule.code, _measured(rule.code, material)) for rule in load_rules() if rule.code.startswith(prefix))
    return {code: "\n".join(lines[2:]) for code, lines in found if lines}


def pages(material: Material, prefix: str = "TFM") -> Iterator[tuple[str, str]]:
    """File names and texts of all pages, the index last."""
    rules = [rule for rule in load_rules() if rule.code.startswith(prefix)]
    for own in OWN_RULES if prefix == "TFM" else ():
        yield f"{own.code}.md", "\n".join([_INDEX_MADE, *_head(own, True), textwrap.fill(own.text, 120)]) + "\n"
    for rule in rules:
        yield f"{rule.code}.md", page(rule, material)
    yield "README.md", _index(rules, prefix)


def page(rule: Rule, material: Material) -> str:
    """One rule's page."""
    lines = [_MADE, *_head(rule, rule.default), rule_page(rule, material.examples)]
    return "\n".join([*lines, *_measured(rule.code, material)]) + "\n"


def _head(rule: Rule | OwnRule, default: bool) -> list[str]:
    lines = ["", f"# {rule.code}: {rule.name}", "", f"{_sentence(rule.summary)}", ""]
    lines += ["| severity | runs by default | fix |", "|---|---|---|"]
    return [*lines, f"| {rule.severity.value} | {'yes' if default else 'no'} | {_fix(rule)} |", ""]


def _measured(code: str, material: Material) -> list[str]:
    """The measurements of the rule's sample programs, where there are some: on a CPU, and on a graphics card."""
    from tfmemlint.verify.evidence import CARD

    parts = {"CPU": material.evidence, "GPU": material.evidence.get(CARD, {})}
    known = {name: part.get("rules", {}).get(code) for name, part in parts.items()}
    found = {name: entry for name, entry in known.items() if isinstance(entry, dict)}
    if not found:
        return []
    words = material.programs.get(code, "")
    first = f". The one with it: {words[0].lower()}{words[1:]}" if words else ":"
    lines = ["", "## Measured", f"Two programs, one with the finding and one without it{first}", ""]
    head, rows = ["measured", "before", "after", "ratio", "verdict"], {name: _row(found[name]) for name in found}
    if "GPU" in found:
        head, rows = ["on", *head], {name: [f"a {name}", *rows[name]] for name in found}
    lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows.values()]
    reasons = {name: str(entry["reason"]) for name, entry in found.items() if entry.get("reason")}
    for name, reason in reasons.items():
        if name == "CPU":
            lines += ["", _sentence(reason)]
        elif reason != reasons.get("CPU"):
            lines += ["", _sentence(f"On a GPU: {reason}")]
    for name, entry in found.items():
        made = {**parts[name], **entry}
        versions = [f"{library} {version}" for library, version in made.get("versions", {}).items()]
        where = ", ".join([*versions, str(made["device"])] if made.get("device") else versions)
        asked = " --device gpu" if name == "GPU" else ""
        lines += ["", f"Measured with {where}; `tfmemlint verify --rules {code}{asked}` repeats it."]
    return lines


def _row(entry: Mapping[str, Any]) -> list[str]:
    """The cells of one measurement."""
    from tfmemlint.verify.pages.report import NAMES, YES_NO, figure, ratio

    metric, unit = str(entry.get("metric") or ""), str(entry.get("unit") or "")
    sides = [figure(entry.get(side), unit, metric) for side in ("before", "after")]
    times = ratio(None if metric in YES_NO else entry.get("ratio"))
    return [NAMES.get(metric, metric), *sides, times, str(entry["verdict"])]


def _measured_programs(fixtures: Path) -> dict[str, str]:
    """What the docstrings of the measured programs say, by code."""
    from tfmemlint.verify.evidence import read_samples

    samples = read_samples(fixtures) if fixtures.is_dir() else []
    found = ((sample.code, ast.get_docstring(ast.parse(sample.pair.before.source))) for sample in samples)
    return {code: words for code, words in found if words}


def _evidence(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    table = json.loads(path.read_text("utf-8"))
    return table if isinstance(table, dict) else {}


def _index(rules: list[Rule], prefix: str) -> str:
    lines = [_INDEX_MADE, "", "# Rules", ""]
    lines += ["Rules marked *off* run only when they are selected: by code, or all of them with `--select ADVICE`."]
    if prefix == "TFM":
        lines += ["", f"## {FAMILIES['TFM0'].title}", "", "| code | name | meaning |", "|---|---|---|"]
        lines += [f"| [{own.code}]({own.code}.md) | {own.name} | {own.summary} |" for own in OWN_RULES]
    family = None
    for rule in rules:
        if rule.code[:-2] != family:
            family = rule.code[:-2]
            lines += ["", f"## {FAMILIES[family].title if family in FAMILIES else family}", ""]
            lines += ["| code | name | severity | default | fix | summary |", "|---|---|---|---|---|---|"]
        default = "on" if rule.default else "off"
        cells = [f"[{rule.code}]({rule.code}.md)", rule.name, rule.severity.value, default, _fix(rule), rule.summary]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _fix(rule: Rule | OwnRule) -> str:
    words = {"safe": "safe", "unsafe": "unsafe", "display": "shown"}
    return " or ".join(words[safety.value] for safety in rule.fix_safety) or "-"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
