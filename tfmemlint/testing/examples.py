"""The examples of rules' pages: marked regions of case files, and what must hold for them.

In a case's `bad.py` the lines below a comment `# [example]` are the first example of the rule's page. In `good.py` the
lines below `# [example] Cache the data once:` are the second one, and what the comment says stands between the two. A
region ends at a comment `# [/example]`, or with the file. `#!` markers are left out.

A reader pastes an example into a file that imports what it needs; so a region is linted behind the import statements
above it, and nothing else of its file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from tfmemlint.testing.cases import Case, fail

_REGION = re.compile(
    r"^# \[example\](?P<words>.*)\n(?P<code>(?:.*\n)*?)(?:# \[/example\]\n|\Z)",
    re.MULTILINE,
)
_MARKER = re.compile(r"\s*#![-+ ].*$", re.MULTILINE)


@dataclass(frozen=True)
class Region:
    """A marked region of a case file: the words of its marker, its code, and the import statements above it."""

    words: str
    code: str
    imports: str

    @property
    def pasted(self) -> str:
        """The example as a program of its own."""
        return f"{self.imports}\n{self.code}"


@dataclass(frozen=True)
class Example:
    """The two examples of a rule's page and the words between them."""

    first: str
    then: str
    second: str


def region(case: Case, name: str) -> Region | None:
    """The marked region of a case's file, or None. Raises CaseError where there are two, or where one is empty."""
    text = case.text(name) if case.file(name).is_file() else ""
    found = list(_REGION.finditer(text))
    if not found:
        return None
    if len(found) > 1:
        fail(case, name, "two regions are marked with `# [example]`; a page shows one")
    marked = found[0]
    code = _MARKER.sub("", marked["code"]).strip("\n")
    if not code.strip():
        fail(case, name, "the region below `# [example]` is empty")
    return Region(marked["words"].strip(), f"{code}\n", _imports(text[: marked.start()]))


def example(case: Case) -> Example | None:
    """What a case shows on its rule's page, or None. Raises CaseError where one of the two regions is missing."""
    first, second = region(case, "bad.py"), region(case, "good.py")
    if first is None and second is None:
        return None
    if first is None or second is None:
        lacking = "bad.py" if first is None else "good.py"
        fail(case, lacking, "the other file has a region `# [example]`, this one has none")
    if not second.words.endswith((".", ":")):
        hint = "such as `# [example] Cache the data once:`"
        fail(case, "good.py", "`# [example]` goes on with the sentence between the two examples", hint)
    return Example(first.code, second.words, second.code)


def examples(found: Iterable[Case]) -> dict[str, Example]:
    """The examples of cases by their rules' codes. Raises CaseError where two cases show one for the same rule."""
    by_code: dict[str, Example] = {}
    for case in found:
        shown = example(case)
        if shown is not None and case.code in by_code:
            fail(case, "", f"another case has the example of {case.code} already")
        if shown is not None:
            by_code[case.code] = shown
    return by_code


def _imports(text: str) -> str:
    """The import statements at the top level of a program."""
    lines = text.splitlines()
    nodes = [node for node in ast.parse(text).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return "".join(f"{line}\n" for node in nodes for line in lines[node.lineno - 1 : node.end_lineno])
