"""A rule's page: its docstring, with the examples and what is said of fixes put where they belong.

The examples lie in `examples.json` beside the rules' modules, where `python -m tfmemlint.dev docs` writes them from the
marked regions of the rules' cases; so they are there wherever the rules are installed. A rule whose package has no such
file may hold a section "## Example" of its own. What was measured lies in `measured.json` in the same way.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfmemlint.rule import Rule

EXAMPLES = "examples.json"
"""The name of the file with the examples of a package's rules."""

MEASURED = "measured.json"
"""The name of the file with what was measured of a package's rules: Markdown by code."""


def whole_page(rule: Rule) -> str:
    """The sections of a rule's page as Markdown, and what was measured of it, as far as that is installed with it."""
    table = measured(rule)
    return rule_page(rule) + (f"\n\n## Measured\n{table}" if table else "")


def rule_page(rule: Rule, examples: Mapping[str, Any] | None = None) -> str:
    """The sections of a rule's page as Markdown, in the order of `HEADINGS`.

    `examples` is the table to take the example from; without it the one beside the rule's module.
    """
    from tfmemlint.rule import HEADINGS

    package = type(rule).__module__.rpartition(".")[0]
    shown = (_table(package, EXAMPLES) if examples is None else examples).get(rule.code)
    generated = {"## Example": _example(shown) if shown else "", "## Fix safety": _no_fix(rule)}
    sections = {**generated, **_sections(rule, HEADINGS)}
    return "\n\n".join(f"{heading}\n{sections[heading]}" for heading in HEADINGS if sections.get(heading))


def why(rule: Rule) -> str:
    """Why what a rule reports costs memory, as Markdown."""
    heading = "## Why it costs memory"
    return _sections(rule, (heading, "## Example", "## Fix safety", "## When not to use it")).get(heading, "")


def measured(rule: Rule) -> str:
    """What was measured of a rule, as Markdown; empty where nothing was."""
    found = _table(type(rule).__module__.rpartition(".")[0], MEASURED).get(rule.code, "")
    return found if isinstance(found, str) else ""


def _sections(rule: Rule, headings: tuple[str, ...]) -> dict[str, str]:
    """The texts of the docstring's sections by their headings."""
    parts = re.split(f"^({'|'.join(map(re.escape, headings))})$", inspect.cleandoc(rule.__doc__ or ""), flags=re.M)
    return {heading: text.strip() for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def _example(shown: Mapping[str, Any]) -> str:
    first, second = ("\n".join(["```python", *shown[side], "```"]) for side in ("first", "second"))
    return f"{first}\n{shown['then']}\n{second}"


def _no_fix(rule: Rule) -> str:
    if rule.fix_safety:
        return ""
    return f"No fix: {rule.no_fix}." if rule.no_fix else "The rule has no fix."


@cache
def _table(package: str, name: str) -> Mapping[str, Any]:
    """One of the tables beside a package's rules, by code; empty for rules of no package and packages without it."""
    path = files(package) / name if package else None
    if path is None or not path.is_file():
        return {}
    table = json.loads(path.read_text("utf-8"))
    return table if isinstance(table, dict) else {}
