"""What a change of the linter changes: the findings of two runs on the same projects, compared place by place.

Each run is a file that `tfmemlint check --output-format jsonl` (or `json`) wrote. The two runs may have read copies of
the projects in different folders: files are the same when their paths below the roots of the runs are.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path, PurePath
from typing import Any, Literal

from tfmemlint.files.bounded_read import read_regular
from tfmemlint.shown import shown

Record = Mapping[str, Any]
"""A finding as the JSON formats write it."""
Kind = Literal["gained", "lost", "changed"]
_Parts = tuple[str, ...]

KINDS: tuple[Kind, ...] = ("gained", "lost", "changed")
_MARKS: Mapping[Kind, str] = {"gained": "+", "lost": "-", "changed": "~"}


class RunError(Exception):
    """A file that holds no findings of a run; the text names the file and the line."""


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What must agree for two findings to be about the same thing; the order is that of a report.

    `cell` is 0 outside of notebooks, whose cells count from 1.
    """

    code: str
    path: str
    cell: int
    row: int
    column: int

    def __str__(self) -> str:
        cell = f"cell {self.cell}:" if self.cell else ""
        return f"{shown(self.path)}:{cell}{self.row}:{self.column}"


@dataclass(frozen=True, slots=True)
class Difference:
    """A finding that only one run has, or that the second run words, prices or repairs in another way."""

    key: Key
    before: Record | None
    after: Record | None

    @property
    def kind(self) -> Kind:
        """`changed` where both runs have the finding."""
        if self.before is None:
            return "gained"
        return "lost" if self.after is None else "changed"


def read_run(path: Path) -> list[Record]:
    """The findings of one run, in the order of the file; an empty file has none.

    Raises OSError for a file that cannot be read, RunError for one that holds something else.
    """
    data = read_regular(path)
    if data.lstrip().startswith(b"["):
        numbered = enumerate(_parsed(data, f"{path}"), start=1)
        return [_checked(value, f"{path}: entry {number}") for number, value in numbered]
    lines = [(number, line) for number, line in enumerate(data.splitlines(), start=1) if line.strip()]
    return [_checked(_parsed(line, f"{path}:{number}"), f"{path}:{number}") for number, line in lines]


def _parsed(data: bytes, where: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise RunError(f"{where}: this is not JSON") from None


def _checked(value: Any, where: str) -> Record:
    match value:
        case {"code": str(), "filename": str(), "message": str(), "location": {"row": int(), "column": int()}}:
            if isinstance(value.get("cell"), (int, type(None))):
                return value  # type: ignore[no-any-return]
    raise RunError(f"{where}: this is not a finding as `tfmemlint check --output-format jsonl` writes it")


def compare(before: Sequence[Record], after: Sequence[Record]) -> list[Difference]:
    """The differences between two runs, rule by rule and in each rule in the order of the files."""
    root_before, root_after = _roots(before, after)
    old, new = _by_key(before, root_before), _by_key(after, root_after)
    found = []
    for key in sorted({*old, *new}):
        left, right = _without_equal(old[key], new[key])
        found += [Difference(key, *pair) for pair in zip_longest(left, right)]
    return found


def report(differences: Sequence[Difference], before: int, after: int) -> Iterator[str]:
    """Lines for a reader: a table of counts, then each difference below its rule; the numbers of findings in the runs
    close the table."""
    if not differences:
        yield f"no difference: {after} findings"
        return
    yield from _table(differences)
    yield f"{before} findings before, {after} after"
    code = None
    for each in differences:
        if each.key.code != code:
            code = each.key.code
            name = (each.after or each.before or {}).get("name")
            yield ""
            yield shown(f"{code} {name}" if isinstance(name, str) else code)
        yield from _lines(each)


def _table(differences: Sequence[Difference]) -> Iterator[str]:
    counts = Counter((each.key.code, each.kind) for each in differences)
    codes = list(dict.fromkeys(shown(each.key.code) for each in differences))
    width = max(len("total"), *map(len, codes))
    yield " ".join([" " * width, *(f"{kind:>8}" for kind in KINDS)])
    for code in codes:
        yield " ".join([f"{code:{width}}", *(f"{counts[code, kind]:>8}" for kind in KINDS)])
    totals = Counter(each.kind for each in differences)
    yield " ".join([f"{'total':{width}}", *(f"{totals[kind]:>8}" for kind in KINDS)])


def _lines(difference: Difference) -> Iterator[str]:
    """The place and the words; below a changed finding what it was and what it is."""
    before, after = difference.before, difference.after
    record = after if after is not None else before
    assert record is not None
    yield f"{_MARKS[difference.kind]} {difference.key} {shown(record['message'])}"
    if before is None or after is None:
        return
    old, new = _content(before), _content(after)
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield f"    - {name}: {_text(old.get(name))}"
            yield f"    + {name}: {_text(new.get(name))}"


def _text(value: object) -> str:
    return shown(value) if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _content(record: Record) -> dict[str, Any]:
    """A finding without what depends on where its file lies, and without what the key holds."""
    content = {name: value for name, value in record.items() if name not in ("filename", "location", "url")}
    related = content.get("related")
    if isinstance(related, list):
        content["related"] = [{**each, "filename": None} if isinstance(each, dict) else each for each in related]
    return content


def _without_equal(before: list[Record], after: list[Record]) -> tuple[list[Record], list[Record]]:
    """The findings of one key that have no equal in the other run, in an order of their own."""
    old, new = ({_order(each): each for each in records} for records in (before, after))
    counts = Counter(map(_order, before))
    counts.subtract(map(_order, after))
    left = [old[order] for order in sorted(old) for _ in range(counts[order])]
    right = [new[order] for order in sorted(new) for _ in range(-counts[order])]
    return left, right


def _order(record: Record) -> str:
    return json.dumps(_content(record), sort_keys=True)


def _by_key(records: Iterable[Record], root: int) -> defaultdict[Key, list[Record]]:
    """The findings by what must agree; `root` is how many parts of each path the run's root takes."""
    found: defaultdict[Key, list[Record]] = defaultdict(list)
    for record in records:
        path = "/".join(_parts(record)[root:])
        location = record["location"]
        key = Key(record["code"], path, record.get("cell") or 0, location["row"], location["column"])
        found[key].append(record)
    return found


def _roots(before: Sequence[Record], after: Sequence[Record]) -> tuple[int, int]:
    """How many parts of the paths of each run are its root.

    Any folder above all files of a run can be its root. A run may have no finding in half of the projects, so that the
    deepest such folder is not always the right one: the two are chosen so that the runs have most files in common, the
    deepest ones where several pairs do.
    """
    old, new = {_parts(each) for each in before}, {_parts(each) for each in after}
    deepest_old, deepest_new = _common(old), _common(new)
    best, most = (deepest_old, deepest_new), 0
    for root_old in range(deepest_old, -1, -1):
        below = {parts[root_old:] for parts in old}
        for root_new in range(deepest_new, -1, -1):
            shared = sum(parts[root_new:] in below for parts in new)
            if shared > most:
                best, most = (root_old, root_new), shared
    return best


def _common(files: set[_Parts]) -> int:
    """How many parts the folder above all files has; 0 without files."""
    if not files:
        return 0
    least, greatest = min(files), max(files)
    depth = min(map(len, files)) - 1
    return next((at for at in range(depth) if least[at] != greatest[at]), depth)


def _parts(record: Record) -> _Parts:
    return PurePath(record["filename"]).parts
