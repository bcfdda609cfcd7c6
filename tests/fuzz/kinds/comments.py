"""Samples with comments that silence, at any place and in any state."""

from __future__ import annotations

from random import Random

from tfmemlint.config.selectors import FAILURES, UNUSED
from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.suppress import add_ignores
from tfmemlint.run.repair import Gate, repair

from ..case import Broken, Case, Kind
from ..checks import linter, sound
from ..programs import samples
from .wrapped import below

WORDS = ("ignore", "ignore", "disable", "enable", "file-ignore", "IGNORE", "ignor", "disable-next", "")
ITEMS = ("TFM", "TFM3", "TFM305", "TFM401", "cache-after-repeat", "ALL", "tfm305", "TFM000", "TFM003", "E501", "",
         " ", ",", "TFM305,TFM305", "TFM999", "é", "]", "[", "TFM3, TFM4", "ADVICE")  # fmt: skip
ENDS = ("", "", " -- because", " # noqa", "  # type: ignore", " because # tfmemlint: ignore[TFM1]", "\t", "]")


def make(chance: Random, number: int) -> Case | None:
    """A sample with up to eight comments between and behind its lines."""
    text = chance.choice(samples())
    if not chance.randrange(4):
        text = below(text, chance)
    lines = text.splitlines(keepends=True)
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(lines))
        line = lines[place].rstrip("\n")
        if chance.randrange(2):
            lines[place] = f"{line}  {_comment(chance)}\n"
        else:
            lead = line[: len(line) - len(line.lstrip())] if chance.randrange(4) else ""
            lines.insert(place, f"{lead}{_comment(chance)}\n")
    end = chance.choice(["\n", "\n", "\n", "\r\n", "\r"])
    return Case("comments.py", "".join(lines).replace("\n", end).encode("utf-8", "surrogateescape"))


def _comment(chance: Random) -> str:
    if not chance.randrange(4):
        return chance.choice(["# noqa", "# noqa: TFM305", "#noqa:TFM305,E501", "# noqa: E501, TFM3", "# NOQA : TFM401"])
    items = chance.choice(ITEMS)
    listed = f"[{items}]" if chance.randrange(6) else items
    space = chance.choice(["", " ", "  "])
    return f"#{space}tfmemlint:{space}{chance.choice(WORDS)}{space}{listed}{chance.choice(ENDS)}"


def check(case: Case) -> None:
    """Comments that silence nothing go at once, and what is silenced with comments is silent."""
    sound(case.data, case.path)
    unused = Linter(Config(select=("ALL",), fixable=("TFM003",)))
    done = repair(case.data, case.path, unused, Gate())
    if done.failed:
        raise Broken(f"TFM000 {done.failed[0].message}")
    if repair(done.data, case.path, unused, Gate()).data != done.data:
        raise Broken("unused comments do not go at once")
    result = linter().lint(done.data, case.path)
    findings = [each for each in result.findings if each.code != UNUSED]
    if result.source is None or not findings or any(each.code in FAILURES for each in findings):
        return
    data = result.source.rewrite(add_ignores(result.source, findings, "because"))
    left = {each.code for each in linter().lint(data, case.path).findings}
    if left := left - {each.code for each in result.findings if each.code == UNUSED}:
        raise Broken(f"--add-ignore leaves {', '.join(sorted(left))}")


KIND = Kind("comments", make, check)
