"""What IPython understands and Python does not: magics, shell lines, help lines. They are masked so that cells parse.

A masked line keeps its place: `pass` stands for a command, `get_ipython()` for the value of one. Commands that run
Python code, such as `%time`, only lose their own name.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

# Cell magics that run the cell's body as Python in the notebook's own program. `%%python` starts another process.
CELL_MAGICS_RUNNING_PYTHON = {
    *("capture", "debug", "heat", "lprun", "memit", "memray_flamegraph", "mprun", "prun", "pyinstrument", "scalene"),
    *("snakeviz", "time", "timeit", "wandb"),
}

_CELL_MAGIC = re.compile(r"%%(\w*)")
# Some notebooks are written for front ends that take a cell magic with one percent sign; none of these is a line magic.
_SHORT_CELL_MAGIC = re.compile(r"%(?:bash|sh|script|writefile|html|javascript|js|latex|perl|ruby|svg|bq)\b")
_WRITES_PYTHON = re.compile(r"%%?(?:writefile|file)\s+(?P<append>(?:-a|--append)\s+)?(?P<name>\S.*?\.pyw?)[\"']?\s*$")
_ESCAPE = re.compile(r"\s*(?:[%!?,;/])")
_HELP = re.compile(r"[ \t]*%{0,2}[A-Za-z_*][\w*.\[\]-]*[ \t]*\?{1,2}[ \t]*;?[ \t]*$")
# Commands that IPython takes without their percent sign, as long as no variable has the name.
_AUTOMAGIC = re.compile(
    r"[ \t]*(?:autoreload|cat|cd|conda|cp|env|ldir|less|ll|load_ext|ls|mamba|man|matplotlib|mkdir|more|mv|pip3?|pushd"
    r"|rm|rmdir|run|tensorboard|uv)[ \t]+(?=[\w~./$'\"{*?-])"
)
_ANY = re.compile(rf"^(?:[ \t]*[%!]|{_HELP.pattern}|{_AUTOMAGIC.pattern})", re.MULTILINE)
_ASSIGNED = re.compile(r"\s*[^\W\d](?:[\w.,\s*]|\[[^\]=]*\])*=\s*(?=[%!])")
# The commands whose rest of line is Python; options stand before it.
_RUNS_REST = re.compile(r"%(?:time\s+|(?:timeit|memit)\s+(?:-[nrtip]\s*\d+\s+|-[a-z]\s+)*)(?=[^\s-])")
_RETURNS_REST = re.compile(r"%time\s+(?=[^\s-])")
_KEYWORD = re.compile(r"\s*\w+\s+(?:in|is|and|or|if|not)\b")

_TOKEN = re.compile(r"#|\"\"\"|'''|[\"'()\[\]{}]")
_STRING_END = {quote: re.compile(rf"(?:\\.|[^\\])*?{quote}") for quote in ('"""', "'''", '"', "'")}


@dataclass(frozen=True, slots=True)
class Mask:
    """The characters of a line that the program text does not have, and what stands there instead."""

    start: int = 0
    end: int = 0
    stand_in: str = ""


def may_have(text: str) -> bool:
    """Whether a text may have lines that only IPython understands; no is sure, but for their rarest kinds."""
    return bool(_ANY.search(text) or "=!" in text or "= !" in text or "= %" in text)


def written_file(lines: Sequence[str]) -> tuple[str, bool] | None:
    """The Python file that a cell of these lines writes (`%%writefile model.py`), and whether it is added to; None
    where the cell writes none."""
    first = next((line for line in lines if line.strip()), "")
    found = _WRITES_PYTHON.match(first)
    return (found["name"], bool(found["append"])) if found else None


def runs_python(lines: Sequence[str]) -> bool:
    """Whether the cell's body is code of the notebook's own program: no cell magic, or only ones that run Python."""
    for line in lines:
        if line.strip():
            if _SHORT_CELL_MAGIC.match(line):
                return False
            magic = _CELL_MAGIC.match(line)
            if not magic:
                return True
            if magic.group(1) not in CELL_MAGICS_RUNNING_PYTHON:
                return False
    return True


def masks(lines: Sequence[str]) -> list[Mask]:
    """What to hide in each line of a cell so that it parses as Python."""
    made: list[Mask] = []
    state = _State()
    before_code, command_goes_on = True, False
    for line in lines:
        if command_goes_on or (before_code and _CELL_MAGIC.match(line)):
            mask = Mask(0, len(line))
        elif state.is_open:
            mask = Mask()
        else:
            mask = _mask(line)
        hides_end = mask.end == len(line) > 0
        command_goes_on = hides_end and line.endswith("\\")
        before_code = before_code and (not line.strip() or (hides_end and not mask.stand_in))
        if not hides_end:
            state = state.after(line[mask.end :])
        made.append(mask)
    return made


def _mask(line: str) -> Mask:
    """What to hide in a line that begins a statement."""
    feed = line.rfind("\f", 0, len(line) - len(line.lstrip())) + 1
    if feed:
        return Mask(0, feed)
    indent = len(line) - len(line.lstrip())
    if _ESCAPE.match(line) or _HELP.match(line):
        return _run_rest(_RUNS_REST, line, indent) or Mask(indent, len(line), "pass")
    assigned = _ASSIGNED.match(line)
    if assigned:
        return _run_rest(_RETURNS_REST, line, assigned.end()) or Mask(assigned.end(), len(line), "get_ipython()")
    if _AUTOMAGIC.match(line) and not _KEYWORD.match(line) and not _is_python(line):
        return Mask(indent, len(line), "pass")
    return Mask()


def _is_python(line: str) -> bool:
    """Whether the line is, or begins, a statement of Python."""
    if _State().after(line).is_open:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(line.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _run_rest(commands: re.Pattern[str], line: str, start: int) -> Mask | None:
    """Hide only the command's name where it is one of `commands` and the rest of the line is whole Python."""
    command = commands.match(line, start)
    if not command or line.endswith(("\\", "?")) or _State().after(line[command.end() :]).is_open:
        return None
    return Mask(start, command.end())


@dataclass(frozen=True, slots=True)
class _State:
    """What is open at the end of a line: brackets, a string, a backslash."""

    depth: int = 0
    quote: str = ""
    continued: bool = False

    @property
    def is_open(self) -> bool:
        return bool(self.depth or self.quote or self.continued)

    def after(self, line: str) -> _State:
        """The state after one more line."""
        depth, quote, place = self.depth, self.quote, 0
        while place < len(line):
            if quote:
                end = _STRING_END[quote].match(line, place)
                if not end:
                    goes_on = len(quote) == 3 or line.endswith("\\")
                    return _State(depth, quote if goes_on else "")
                quote, place = "", end.end()
                continue
            token = _TOKEN.search(line, place)
            if not token:
                break
            if token.group() == "#":
                return _State(depth)
            place = token.end()
            if token.group() in "([{":
                depth += 1
            elif token.group() in ")]}":
                depth = max(depth - 1, 0)
            else:
                quote = token.group()
        if quote and len(quote) == 1:
            quote = ""
        return _State(depth, quote, not quote and line.endswith("\\"))
