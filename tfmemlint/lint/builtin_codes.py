"""What the tool reports besides the rules that are installed, in the words of all that speaks of it."""

from __future__ import annotations

from typing import NamedTuple

from tfmemlint.config.selectors import ENGINE
from tfmemlint.finding import Safety, Severity


class OwnRule(NamedTuple):
    """A code of the tool itself, described like a rule."""

    code: str
    name: str
    severity: Severity
    summary: str
    text: str
    fix_safety: tuple[Safety, ...] = ()


_WORDS: dict[str, tuple[Severity, str, str]] = {
    "TFM000": (
        Severity.ERROR,
        "a rule or the engine failed on this file; what other rules found stands",
        "The exit code is 3. The fault is the tool's or a rule pack's: please report it with the file. A repair that "
        "did not do what it says is told in the same way: the file stays as it was before that repair.",
    ),
    "TFM001": (
        Severity.ERROR,
        "the file cannot be read or decoded, or is no valid notebook",
        "Nothing in the file was checked or changed. Configure it like a rule: `ignore`, `per-file-ignores`, "
        "`severity`, a baseline. Comments in the file do not silence it.",
    ),
    "TFM002": (
        Severity.ERROR,
        "the file, cell or code block does not parse; nothing in it is checked or changed",
        "Other cells and blocks of a notebook or document were checked. A Python file with commands of IPython, as "
        "exports of notebooks have, is checked without these lines. A file that Python reads and libcst does not is "
        "checked, too, but nothing in it can be repaired: that is a warning. Configure it like a rule: `ignore`, "
        "`per-file-ignores`, `severity`, a baseline. Comments in the file do not silence it.",
    ),
    "TFM003": (
        Severity.WARNING,
        "a comment that silences a rule silences nothing",
        "The finding that it speaks of is gone, or the code is not known. The safe fix takes the code, and with the "
        "last one the comment, out. Only codes that ran count as unused.",
    ),
}

OWN_RULES = tuple(
    OwnRule(known.code, known.name, *_WORDS[known.code], (Safety.SAFE,) if known.code == "TFM003" else ())
    for known in ENGINE
)
