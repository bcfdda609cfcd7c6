"""The table "what can I ask?" of contributing.md, made from what the modules of `query` say of themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import tfmemlint

BEGIN = "<!-- questions: made by `python -m tfmemlint.dev docs` from the docstrings in query/ -->"
END = "<!-- /questions -->"
_PACKAGE = "tfmemlint.query"


def with_questions(text: str) -> str:
    """A document with the table between its two marks made anew; one without marks stays as it is."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{table()}\n{end}{after}" if begin and end else text


def table() -> str:
    """All of `query` that the api exports and a docstring explains, by subject, each with its first sentence."""
    lines = ["| ask | to know |", "|---|---|"]
    for subject, names in exported().items():
        lines.append(_row(f"**{subject or 'anywhere'}**", f"*{_about(subject)}*"))
        rows = [row for module in sorted(set(names.values())) for row in _named(module)]
        before = f"{subject}." if subject else ""
        told = (each for each in sorted(rows) if each[0] in names and each[2])
        lines += [_row(f"`{before}{call}`", _sentence(words)) for _, call, words in told]
    return "\n".join(lines) + "\n"


def exported() -> dict[str, dict[str, str]]:
    """Subject of the api (`pipelines`; empty for what it exports itself) -> name -> the module that defines it."""
    folder = Path(tfmemlint.__path__[0]) / "api"
    found = {"": _imported(folder / "__init__.py")}
    found.update((path.stem, _imported(path)) for path in sorted(folder.glob("[a-z]*.py")))
    return {
        subject: {name: _imported(_source(module)).get(name, module) for name, module in names.items()}
        for subject, names in found.items()
        if names
    }


def _about(subject: str) -> str:
    """What the module of a subject says of it."""
    if not subject:
        return "Where a value goes, what is called, what wakes a rule."
    path = Path(tfmemlint.__path__[0]) / "api" / f"{subject}.py"
    return _sentence(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "")


def _imported(path: Path) -> dict[str, str]:
    """The names that a module imports from modules of `query`, with these."""
    return {
        each.name: str(node.module).removeprefix(f"{_PACKAGE}.")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{_PACKAGE}.")
        for each in node.names
    }


def _source(module: str) -> Path:
    path = Path(tfmemlint.__path__[0]) / "query" / module.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _named(module: str) -> Iterator[tuple[str, str, str]]:
    """What a module of `query` defines: the name, how it is written where it is asked, and its docstring."""
    tree = ast.parse(_source(module).read_text("utf-8"))
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            needed = [each.arg for each in given.args[: len(given.args) - len(given.defaults)]]
            shown = [*needed, *([f"*{given.vararg.arg}"] if given.vararg else [])]
            yield node.name, f"{node.name}({', '.join(shown)})", ast.get_docstring(node) or ""
        elif isinstance(node, ast.ClassDef):
            yield node.name, node.name, ast.get_docstring(node) or ""
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            words = after.value if isinstance(after, ast.Expr) else None
            text = words.value if isinstance(words, ast.Constant) and isinstance(words.value, str) else ""
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((each.id, each.id, text) for each in targets if isinstance(each, ast.Name))


def _sentence(text: str) -> str:
    """The first sentence of a docstring in one line."""
    words = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", words)[0]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
