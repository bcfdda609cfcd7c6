"""The pictures of the README and the site, drawn from what the tool prints, so that they stay true."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from tfmemlint.dev import verified

_FOUND = ("check", "examples/data.py", "--isolated", "--no-cache", "--color", "always")
_ESTIMATED = ("estimate", "docs/examples/train.py", "--gpu", "T4", "--isolated", "--output-format", "svg")

_STEP, _LINE, _EDGE, _BAR = 7.25, 18, 16, 34
"""Units for each column and line, around the text, and for the bar above it."""
_STYLED = re.compile(r"\x1b\[([\d;]*)m")
_CLASSES = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "34": "blue", "36": "cyan"}
_STYLE = """
.terminal { --paper: #ffffff; --ink: #1b1f24; --dim: #6e7781; --line: #d1d9e0; --red: #b42318; --green: #1a7f37;
  --yellow: #9a6700; --blue: #0969da; --cyan: #1b7c83; }
@media (prefers-color-scheme: dark) { .terminal { --paper: #0d1117; --ink: #e6edf3; --dim: #8b949e; --line: #3d444d;
  --red: #ff7b72; --green: #4ac26b; --yellow: #d4a72c; --blue: #58a6ff; --cyan: #56d4dd; } }
.terminal text { fill: var(--ink); font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  white-space: pre; }
.terminal .window { fill: var(--paper); stroke: var(--line); }
.terminal circle { fill: var(--line); }
.terminal .bold { font-weight: 600; } .terminal .dim { fill: var(--dim); }
.terminal .red { fill: var(--red); } .terminal .green { fill: var(--green); }
.terminal .yellow { fill: var(--yellow); } .terminal .blue { fill: var(--blue); } .terminal .cyan { fill: var(--cyan); }
"""


def write_pictures(out: Path, *, check: bool = False) -> list[Path]:
    """Draw the pictures into `out`, from the root of a checkout. Returns those that differed; with `check` they stay as
    they are."""
    wanted = {"finding.svg": _finding(), "estimate.svg": _run(_ESTIMATED)}
    if (out / verified.KEPT).exists():
        wanted["verify.svg"] = verified.picture(out / verified.KEPT)
    changed = [out / name for name, text in wanted.items() if _kept(out / name) != text]
    for path in () if check else changed:
        path.write_text(wanted[path.name], "utf-8")
    return changed


def _kept(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def _finding() -> str:
    shown = shlex.join(("tfmemlint", *_FOUND[:2]))
    return terminal(f"$ {shown}\n" + re.sub(r", in [\d.]+ s\.", ".", _run(_FOUND)), f"What {shown} prints")


def _run(words: Sequence[str]) -> str:
    """What a command prints."""
    from tfmemlint.cli.commands import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        main(words)
    return out.getvalue()


def terminal(text: str, described: str) -> str:
    """A terminal with this text, whose colours become those of the picture's reader, light or dark."""
    lines = text.rstrip("\n").split("\n")
    columns = max(len(_STYLED.sub("", line)) for line in lines)
    width, height = round(2 * _EDGE + columns * _STEP), _BAR + _LINE * len(lines) + _EDGE
    name = escape(described)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="terminal" viewBox="0 0 {width} {height}" role="img"'
    parts = [f'{head} aria-label="{name}"><title>{name}</title><style>{_STYLE}</style>']
    parts.append(f'<rect class="window" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>')
    parts += [f'<circle cx="{_EDGE + 6 + 18 * number}" cy="17" r="5"/>' for number in range(3)]
    for number, line in enumerate(lines):
        parts += _line(line, _BAR + _LINE * number + 13)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _line(line: str, y: int) -> Iterator[str]:
    """The parts of a line, each as wide as its columns are, whatever letters the reader's font has."""
    column = 0
    for words, classes in _styled(line):
        blank = len(words) - len(words.lstrip(" "))
        word = words.strip(" ")
        if word:
            kind = f' class="{" ".join(classes)}"' if classes else ""
            where = f'x="{_EDGE + (column + blank) * _STEP:g}" y="{y}" textLength="{len(word) * _STEP:g}"'
            yield f'<text{kind} {where} lengthAdjust="spacingAndGlyphs">{escape(word)}</text>'
        column += len(words)


def _styled(line: str) -> Iterator[tuple[str, list[str]]]:
    """The parts of a line with the names of their styles."""
    classes: list[str] = []
    for number, part in enumerate(_STYLED.split(line)):
        if number % 2:
            classes = [_CLASSES[code] for code in part.split(";") if code in _CLASSES]
        elif part:
            yield part, classes
