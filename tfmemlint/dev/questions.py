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
    """All of `query` that the api exports and a docstring explains, by module, each with its first sentence."""
    lines = ["| ask | to know |", "|---|---|"]
    for module, names in sorted(exported().items()):
        tree = ast.parse(_source(module).read_text("utf-8"))
        lines.append(_row(f"**{module}**", f"*{_sentence(ast.get_docstring(tree) or '')}*"))
        named = sorted(each for each in _named(tree) if each[0] in names and each[2])
        lines += [_row(f"`{call}`", _sentence(words)) for _, call, words in named]
    return "\n".join(lines) + "\n"


def exported() -> dict[str, list[str]]:
    """The names that `tfmemlint.api` exports, by the module of `query` that defines them."""
    found: dict[str, list[str]] = {}
    for name, module in _imported(Path(tfmemlint.__path__[0]) / "api.py").items():
        owner = _imported(_source(module)).get(name, module)
        found.setdefault(owner, []).append(name)
    return found


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


def _named(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """What a module defines: the name, how it is written where it is asked, and its docstring."""
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
