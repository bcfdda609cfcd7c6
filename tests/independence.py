"""What must not change what is found in a program: its comments, docstrings and blank lines, and which other rules run.

`python tests/independence.py PATHS` tries it on all programs in these paths and prints what differs, which takes about
ten times as long as linting them; `tests/test_independence.py` tries the samples.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfmemlint_rules.sequential_map import ON_PURPOSE

from tfmemlint.config.settings import Config
from tfmemlint.finding import Finding
from tfmemlint.lint.directives import HINT
from tfmemlint.lint.dispatch import dispatch
from tfmemlint.lint.engine import lint, siblings_of
from tfmemlint.lint.parsing import parse
from tfmemlint.lint.reach import awake_for
from tfmemlint.lint.triggers import clauses
from tfmemlint.model.file import File
from tfmemlint.rule import Rule
from tfmemlint.text.decoding import SourceError
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source

_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=]", re.MULTILINE)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_PHRASE = "what stands here says nothing"


class NotApplied(Exception):
    """The program holds nothing to rewrite, or something that this way of rewriting cannot keep."""


@dataclass(frozen=True)
class Rewritten:
    """A program with other comments, and for each of its rows (from 1) the row of the old program that it was."""

    text: str
    rows: dict[int, int]


def without_comments(text: str) -> Rewritten:
    """The program without comments, docstrings and blank lines; what a rule's page tells people to write, as
    `# sequential: in order`, stays. Raises NotApplied."""
    tree = _tree(text)
    lines = text.split("\n")
    kept = dict(enumerate(lines, start=1))
    inside = set()
    for token in _tokens(text):
        if token.type == tokenize.COMMENT and not ON_PURPOSE.search(token.string):
            row, column = token.start
            kept[row] = lines[row - 1][:column].rstrip()
        inside |= set(range(token.start[0], token.end[0])) if token.start[0] < token.end[0] else set()
    for owner, docstring in _docstrings(tree):
        first, last = docstring.lineno, docstring.end_lineno or docstring.lineno
        if lines[first - 1][: docstring.col_offset].strip() or not kept[last].endswith(("'", '"')):
            continue  # `def f(): "text"`, or another statement behind it
        inside -= set(range(first, last + 1))
        kept.update(dict.fromkeys(range(first, last + 1), ""))
        if len(owner.body) == 1 and not isinstance(owner, ast.Module):
            kept[first] = " " * docstring.col_offset + "pass"
    left = [(row, line) for row, line in kept.items() if line.strip() or row in inside]
    return _rewritten(text, left)


def with_comments(text: str, words: str) -> Rewritten:
    """The program with comments and blank lines between its statements and behind them, docstrings where it has none,
    and `words` in a comment and in a docstring. Raises NotApplied."""
    tree = _tree(text)
    lines = text.split("\n")
    ends = {token.start[0]: token.start[1] for token in _tokens(text) if token.type == tokenize.NEWLINE}
    before: dict[int, list[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not lines[_first_row(node) - 1][: node.col_offset].strip():
            if ON_PURPOSE.search(lines[_first_row(node) - 2]):
                continue  # it speaks of the line below
            before[_first_row(node)] = ["", " " * node.col_offset + f"# {_PHRASE}"]
    documented = {owner for owner, _ in _docstrings(tree)}
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and node not in documented and node.body:
            row, column = _first_row(node.body[0]), node.body[0].col_offset
            if row in before and not (isinstance(node, ast.Module) and _is_text(node.body[0])):
                what = words if isinstance(node, ast.Module) else _PHRASE
                before[row].append(" " * column + f'"""{what}."""')
    left: list[tuple[int, str]] = []
    for row, line in enumerate(lines, start=1):
        left += [(row, added) for added in before.get(row, ())]
        behind = row in ends and ends[row] == len(line.rstrip())
        left.append((row, f"{line}  # {_PHRASE}" if behind else line))
    return _rewritten(text, [*left, (len(lines), f"# {words}"), (len(lines), "")])


def _tree(text: str) -> ast.Module:
    if HINT.search(text) or _COOKIE.search(text) or "\f" in text or "\r" in text or "\t" in text:
        raise NotApplied
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        raise NotApplied from None


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        raise NotApplied from None


def _first_row(node: ast.stmt) -> int:
    """The row of the first decorator, or of the statement."""
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _docstrings(tree: ast.Module) -> Iterator[tuple[ast.Module | ast.ClassDef | ast.FunctionDef, ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and node.body and _is_text(node.body[0]):
            yield node, node.body[0]  # type: ignore[misc]


def _rewritten(old: str, left: Sequence[tuple[int, str]]) -> Rewritten:
    new = "\n".join(line for _, line in left)
    new += "" if new.endswith("\n") else "\n"
    if new == old:
        raise NotApplied
    try:
        same = _meaning(new) == _meaning(old)
    except SyntaxError:
        same = False
    if not same:  # a blank line behind a backslash, and other rarities
        raise NotApplied
    return Rewritten(new, {row: was for row, (was, _) in enumerate(left, start=1)})


def _meaning(text: str) -> str:
    """The program without its docstrings, in a form that two layouts share."""
    tree = ast.parse(text)
    for owner, docstring in list(_docstrings(tree)):
        owner.body.remove(docstring)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and not node.body and not isinstance(node, ast.Module):
            node.body.append(ast.Pass())
    return ast.dump(tree)


def all_words(rules: Iterable[Rule]) -> str:
    """Every word that wakes one of the rules."""
    handlers = (handler for rule in rules for handler in rule.handlers)
    return " ".join(sorted({word for handler in handlers for clause in clauses(handler) for word in clause}))


Facts = Counter[tuple[object, ...]]
"""What a user sees of findings: code, row, column, words, price, repair and related places."""


def facts(findings: Iterable[Finding], source: Source, rows: dict[int, int] | None = None) -> Facts:
    """The facts of some findings, their rows being those of the old program where `rows` tells them."""

    def place(offset: int) -> tuple[int, int, int]:
        at = source.position(offset)
        return at.cell or 0, rows.get(at.row, 0) if rows else at.row, at.column

    return Counter(
        (
            each.code, place(each.span.start), each.message, each.bytes, each.fix and each.fix.message,
            tuple((related.elsewhere or place(related.span.start), related.message) for related in each.related),
        )
        for each in set(findings)
    )  # fmt: skip


def by_comments(
    text: str, config: Config, rules: Sequence[Rule], path: str = "program.py"
) -> Iterator[tuple[str, str]]:
    """What other comments change in the findings of a program: how it was rewritten, and the difference.

    Repairs are left out, as those that would take a comment along are not offered. Nothing where neither rewriting
    applies.
    """
    before = None
    words = all_words(rules)
    for name, make in (("comments gone", without_comments), ("comments added", lambda old: with_comments(old, words))):
        try:
            new = make(text)
        except NotApplied:
            continue
        if before is None:
            before = _linted(text, path, config, rules, None)
        for difference in differences(before, _linted(new.text, path, config, rules, new.rows)):
            yield name, difference


def _linted(text: str, path: str, config: Config, rules: Sequence[Rule], rows: dict[int, int] | None) -> Facts:
    result = lint(text.encode(), path, config, rules)
    findings = [replace(each, fix=None) for each in result.findings]
    return facts(findings, result.source, rows) if result.source else Counter()


def by_company(source: Source, config: Config, rules: Sequence[Rule], alone: Sequence[Rule] | None = None) -> list[str]:
    """What changes in the findings when the rules run one after the other, the last one first, each for the whole file,
    in place of side by side; and when each of `alone` (None: all) runs for itself.

    Rules share what the model remembers of a file, so that one that asks first could change what another is told.
    """
    module, readable, _ = parse(source)
    if module is None:
        return []

    def model() -> File:
        return File(readable, module, config, siblings_of(source.path, config))

    together = facts(dispatch(model(), rules), readable)
    found = []
    file = model()
    turns = facts([finding for rule in reversed(rules) for finding in dispatch(file, [rule])], readable)
    found += [f"in turns: {each}" for each in differences(together, turns)]
    for rule in rules if alone is None else alone:
        mine = Counter({fact: count for fact, count in together.items() if fact[0] == rule.code})
        single = facts(dispatch(model(), [rule]), readable)
        found += [f"{rule.code} alone: {each}" for each in differences(mine, single)]
    return found


def differences(before: Facts, after: Facts) -> list[str]:
    """Each fact that only one of two sets of findings has, in a readable order."""
    lost, new = before - after, after - before
    return [f"lost {fact}" for fact in sorted(lost, key=repr)] + [f"new {fact}" for fact in sorted(new, key=repr)]


def main() -> int:
    """Try every program of some paths; 1 where something differs."""
    from tfmemlint.lint.registry import load_rules

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--only", choices=("comments", "company"), help="try only this")
    options = parser.parse_args()
    sys.setrecursionlimit(20_000)
    rules, config, count = load_rules(), Config(), 0
    for path in _programs(options.paths):
        data = path.read_bytes()
        if not mentions_tensorflow(data):
            continue
        try:
            source = read_source(data, str(path))
            found: list[str] = []
            if options.only != "company" and path.suffix == ".py":
                found += [f"{how}: {what}" for how, what in by_comments(source.text, config, rules, str(path))]
            if options.only != "comments":
                found += by_company(source, config, awake_for(rules, source, siblings_of(str(path), config)))
        except (SourceError, RecursionError) as error:
            print(f"{path}: not tried: {error}", file=sys.stderr)
            continue
        for each in found:
            print(f"{path}: {each}", flush=True)
        count += len(found)
    print(f"{count} differences")
    return 1 if count else 0


def _programs(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in (".py", ".ipynb"))


if __name__ == "__main__":
    sys.exit(main())
