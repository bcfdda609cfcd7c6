"""Pages for rules, made from their docstrings, metadata and cases, and from the measurements in `evidence.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmemlint.lint.builtin_codes import OWN_RULES
from tfmemlint.lint.registry import load_rules
from tfmemlint.report.rule_page import EXAMPLES, rule_page
from tfmemlint.testing.cases import Case, cases
from tfmemlint.testing.examples import Example, examples

if TYPE_CHECKING:
    from tfmemlint.rule import Rule

_MADE = "<!-- Made by `python -m tfmemlint.dev docs` from the rule's docstring and its cases; edit those. -->"
_INDEX_MADE = "<!-- Made by `python -m tfmemlint.dev docs` from the rules; edit those. -->"
_FAMILIES = {
    "TFM0": "The tool itself",
    "TFM1": "Devices and the GPU allocator",
    "TFM2": "Dtypes",
    "TFM3": "tf.data",
    "TFM4": "GradientTape",
    "TFM5": "Tracing",
    "TFM6": "Keras models",
    "TFM7": "Tensor operations",
    "TFM8": "Profiling and debugging",
    "TFM9": "TensorFlow 1 graphs and distribution",
}


def write_docs(
    out: Path,
    *,
    rules: Path = Path("rules"),
    fixtures: Path = Path("fixtures"),
    prefix: str = "TFM",
    check: bool = False,
) -> list[Path]:
    """Write the pages and the index into `out`, and the cases' examples beside the modules in the folder `rules`.

    Pages of rules that are gone are deleted. Returns the files that differed; with `check` they stay as they are.
    Raises CaseError where the marked regions of the cases are not well formed.
    """
    shown = example_table(cases(fixtures), prefix) if fixtures.is_dir() else None
    wanted: dict[Path, str | None] = {out / name: text for name, text in pages(out, prefix, shown)}
    for path in out.glob(f"{prefix}*.md"):
        wanted.setdefault(path, None)
    if shown is not None and rules.is_dir():
        wanted[rules / EXAMPLES] = json.dumps(shown, indent=1) + "\n"
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


def pages(out: Path, prefix: str = "TFM", shown: Mapping[str, Any] | None = None) -> Iterator[tuple[str, str]]:
    """File names and texts of all pages, the index last. `evidence.json` is looked for beside the folder `out`."""
    rules = [rule for rule in load_rules() if rule.code.startswith(prefix)]
    evidence = _evidence(out.parent / "evidence.json")
    for rule in rules:
        yield f"{rule.code}.md", page(rule, evidence, shown)
    yield "README.md", _index(rules, prefix)


def page(rule: Rule, evidence: Mapping[str, Any], shown: Mapping[str, Any] | None = None) -> str:
    """One rule's page; `shown` is the table of examples, by default the one that is installed with the rule."""
    lines = [_MADE, "", f"# {rule.code}: {rule.name}", "", f"{_sentence(rule.summary)}", ""]
    lines += ["| severity | runs by default | fix |", "|---|---|---|"]
    lines += [f"| {rule.severity.value} | {'yes' if rule.default else 'no'} | {_fix(rule)} |", ""]
    lines.append(rule_page(rule, shown))
    return "\n".join([*lines, *_measured(rule.code, evidence)]) + "\n"


def _measured(code: str, evidence: Mapping[str, Any]) -> list[str]:
    """The measurement of the rule's sample programs, where there is one."""
    found = evidence.get("rules", {}).get(code)
    if not isinstance(found, dict):
        return []
    from tfmemlint.verify.pages.report import NAMES, YES_NO, figure, ratio

    metric, unit = str(found.get("metric") or ""), str(found.get("unit") or "")
    sides = [figure(found.get(side), unit, metric) for side in ("before", "after")]
    times = ratio(None if metric in YES_NO else found.get("ratio"))
    cells = (NAMES.get(metric, metric), *sides, times, str(found["verdict"]))
    lines = ["", "## Measured", "Two programs, one with the finding and one without it:", ""]
    lines += ["| measured | before | after | ratio | verdict |", "|---|---|---|---|---|", f"| {' | '.join(cells)} |"]
    if found.get("reason"):
        lines += ["", _sentence(str(found["reason"]))]
    made = {**evidence, **found}
    versions = [f"{name} {version}" for name, version in made.get("versions", {}).items()]
    where = ", ".join([*versions, str(made["device"])] if made.get("device") else versions)
    return [*lines, "", f"Measured with {where}; `tfmemlint verify --rules {code}` repeats it."]


def _evidence(path: Path) -> Mapping[str, Any]:
    if not path.exists():
        return {}
    table = json.loads(path.read_text("utf-8"))
    return table if isinstance(table, dict) else {}


def _index(rules: list[Rule], prefix: str) -> str:
    lines = [_INDEX_MADE, "", "# Rules", ""]
    lines += ["Rules marked *off* run only when they are selected: by code, or all of them with `--select ADVICE`."]
    if prefix == "TFM":
        lines += ["", f"## {_FAMILIES['TFM0']}", "", "| code | name | meaning |", "|---|---|---|"]
        lines += [f"| {own.code} | {own.name} | {own.summary} |" for own in OWN_RULES]
    family = None
    for rule in rules:
        if rule.code[:-2] != family:
            family = rule.code[:-2]
            lines += ["", f"## {_FAMILIES.get(family, family)}", ""]
            lines += ["| code | name | severity | default | fix | summary |", "|---|---|---|---|---|---|"]
        default = "on" if rule.default else "off"
        cells = [f"[{rule.code}]({rule.code}.md)", rule.name, rule.severity.value, default, _fix(rule), rule.summary]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _fix(rule: Rule) -> str:
    words = {"safe": "safe", "unsafe": "unsafe", "display": "shown"}
    return " or ".join(words[safety.value] for safety in rule.fix_safety) or "-"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
