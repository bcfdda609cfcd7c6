"""The sample programs put whole into each compound statement of Python, and what must hold of them there: no rule
fails, every repair does what it says, and a second repair changes nothing.

`python tests/wrapped.py` tries all of them, which takes minutes; `tests/test_wrapped.py` takes some of each
case, others each day.
"""

from __future__ import annotations

import io
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

import tfmemlint_fixtures

from tfmemlint.config.selectors import FAILURES
from tfmemlint.config.settings import Config
from tfmemlint.fix.apply import fix_bytes
from tfmemlint.fix.select import select_fixes
from tfmemlint.lint.engine import FileResult, lint
from tfmemlint.lint.registry import load_rules
from tfmemlint.rule import Rule
from tfmemlint.testing import Case, cases

HERE = "<the program>"

STATEMENTS = {
    "for": f"for round_ in range(3):\n    {HERE}\n",
    "while": f"while waiting():\n    {HERE}\n",
    "if": f"if chosen():\n    {HERE}\n",
    "else": f"if chosen():\n    pass\nelse:\n    {HERE}\n",
    "with": f"with opened() as source_:\n    {HERE}\n",
    "try": f"try:\n    {HERE}\nexcept ValueError:\n    raise\n",
    "except": f"try:\n    chosen()\nexcept ValueError as error_:\n    {HERE}\n",
    "try-else": f"try:\n    chosen()\nexcept ValueError:\n    pass\nelse:\n    {HERE}\n",
    "finally": f"try:\n    chosen()\nfinally:\n    {HERE}\n",
    "def": f"def main_():\n    {HERE}\n\n\nmain_()\n",
    "async-def": f"async def main_():\n    {HERE}\n",
    "class": f"class Holder_:\n    {HERE}\n",
    "match": f"match chosen():\n    case 'this':\n        {HERE}\n    case _:\n        pass\n",
}
"""For each compound statement, and each of its parts that holds a block: the statement around the program."""

NOWHERE = "nowhere/program.py"
"""Where programs lie that belong to no project: in one, its files would be read again for each of them."""

SAMPLES = ("bad.py", "good.py")
MEASURED = ("measure_bad.py", "measure_good.py")


def wrapped(text: str, statement: str) -> str | None:
    """The program as the body of one of `STATEMENTS`; None where Python allows it only at the top, such as one with
    `from module import *` in a function."""
    futures, body = without_futures(text)
    before, _, after = STATEMENTS[statement].partition(HERE)
    lead = before[before.rindex("\n") + 1 :]
    whole = futures + before.removesuffix(lead) + _indented(body, lead) + after.removeprefix("\n")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(whole, statement, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return whole


def without_futures(text: str) -> tuple[str, str]:
    """The `from __future__` imports of a program, which must stay first, and the program without them."""
    lines = text.splitlines(keepends=True)
    futures = [line for line in lines if line.startswith("from __future__ ")]
    return "".join(futures), "".join(line for line in lines if line not in futures)


def _indented(text: str, lead: str) -> str:
    """The program moved to the right; lines that begin within a string stay as they are."""
    within = _within_strings(text)
    lines = io.StringIO(text if text.endswith("\n") else f"{text}\n").readlines()
    return "".join(line if row in within or not line.strip() else lead + line for row, line in enumerate(lines, 1))


@lru_cache(maxsize=8)  # of a program that is put into one statement after the other
def _within_strings(text: str) -> set[int]:
    """The rows that begin within a string."""
    within: set[int] = set()
    opened: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        if name == "STRING":
            within.update(range(token.start[0] + 1, token.end[0] + 1))
        elif name in ("FSTRING_START", "TSTRING_START"):
            opened.append(token.start[0])
        elif name in ("FSTRING_END", "TSTRING_END"):
            within.update(range(opened.pop() + 1, token.end[0] + 1))
    return within


@cache
def _rules() -> tuple[Rule, ...]:
    return load_rules()


def problems(text: str, config: Config) -> list[str]:
    """What goes wrong when all rules check a program, and when everything that they find is repaired."""
    data = text.encode()

    @cache
    def check(data: bytes) -> FileResult:
        return lint(data, NOWHERE, config, _rules())

    first = check(data)
    found = [f"{each.code} {each.message}" for each in first.findings if each.code in FAILURES]
    done = fix_bytes(data, check, lambda findings: select_fixes(findings, unsafe=True), first)
    found += [each.message for each in done.failed] + [each.reason for each in done.refused]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            compile(done.data, "program.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        found.append(f"the repair leaves no Python: {error}")
    if done.data != data:
        again = fix_bytes(done.data, check, lambda findings: select_fixes(findings, unsafe=True))
        if again.data != done.data:
            found.append("a second repair changes it again")
    return found


def sample_cases() -> list[Case]:
    """The cases of all built-in rules."""
    return cases(tfmemlint_fixtures.__path__[0])


def sample_programs(case: Case) -> dict[str, str]:
    """The texts of a case's programs by name; `basic` stands for the rule's measured ones too."""
    paths = [case.file(name) for name in SAMPLES]
    if case.folder.name == "basic":
        paths += [case.folder.parent / name for name in MEASURED]
    return {path.name: path.read_bytes().decode() for path in paths}


def wrapped_samples(
    case: Case, is_chosen: Callable[[str, str], bool] = lambda name, statement: True
) -> Iterator[tuple[str, str, str]]:
    """Each sample program of a case in each statement that can hold it: file, statement, program; of these those that
    are chosen by file and statement."""
    for name, text in sample_programs(case).items():
        for statement in STATEMENTS:
            program = wrapped(text, statement) if is_chosen(name, statement) else None
            if program is not None:
                yield name, statement, program


def main() -> int:
    """Try every sample program in every statement and print what goes wrong."""
    failed = 0
    for case in sample_cases():
        for name, statement, program in wrapped_samples(case):
            for problem in problems(program, case.config):
                failed += 1
                print(f"{case}/{name} in `{statement}`: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
