"""Shapes that were made up and do not fit, by what the error says of them.

Last sizes that are made up are prime numbers, each its own, so that a message which has one of them is about the array
that has it, and tells what would fit. No other array is changed.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tfmemlint.verify.plan import widths
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.runs import Run

Shape = tuple[int | None, ...]
"""Sizes as a message has them, None for those that it does not tell."""
Sizes = tuple[int, ...]
Fit = tuple[Sizes, Sizes]
"""Sizes behind the first axis: those that were made up, and those that fit."""

MADE = (
    re.compile(r'tfmemlint_(?:array|tensor)\("\w+", \(([\d, ]+)\)\)'),
    re.compile(r"\w+\[([\d,]+)\] was made up"),
    re.compile(r'\("\w+", \(([\d, ]+)\)\)'),
)
"""How programs and notes write the shapes of what is made up."""

SHAPE = r"[(\[]((?:None|\?|\d+)?(?:,\s*(?:None|\?|\d+))*,?)[)\]]"
AXIS = re.compile(rf"expected axis (-?\d+) of input shape to have value (\d+).*?shape {SHAPE}", re.DOTALL)
NAMED = re.compile(rf"expected shape={SHAPE}, found shape={SHAPE}")
AXES = re.compile(rf"expected (?:min_)?ndim=(\d), found ndim=\d.*?: {SHAPE}", re.DOTALL)
RESHAPED = re.compile(rf"cannot reshape array of size (\d+) into shape {SHAPE}")
FILLED = re.compile(
    r"reshape is a tensor with (\d+) values, but the requested shape (has|requires a multiple of) (\d+)"
)
YIELDED = re.compile(rf"yielded an element of shape {SHAPE} where an element of shape {SHAPE} was expected")
SIZES = re.compile(
    r"(?:but are|size) (\d+) (?:and|is different from) (\d+)|In\[0\]: \[\d+,(\d+)\], In\[1\]: \[(\d+),\d+\]"
)
"""Two sizes that have to be the same."""

INDEXED = re.compile(r"array is (\d)-dimensional, but (\d) were indexed")
ROWS = re.compile(
    r"x sizes: (\d+)\s+y sizes: (\d+)|numbers of samples: \[(\d+), (\d+)\]"
    r"|Dimensions (\d+) and (\d+) are not compatible"
    r"|logits_size=\[\d+,(\d+)\] labels_size=\[\d+,(\d+)\]|Shapes \(None, (\d+)\) and \(None, (\d+)\)"
)
"""Numbers of rows, or of classes, that have to be the same."""

BROADCAST = re.compile(
    r"\[(\d+),[\d,]*\].*\[(\d+),[\d,]*\] must be broadcastable|Incompatible shapes: \[(\d+),[\d,]*\] vs\. \[(\d+),"
)
"""Numbers of rows of two arrays that may both be made up."""

COPIED = re.compile(rf"broadcast input array from shape {SHAPE} into shape {SHAPE}")
"""The shape of what is written to a part of an array, and that of the part."""

BEYOND = re.compile(r"index (\d+) is out of bounds for axis 0 with size (\d+)")
"""A row that is asked for and not there."""

BEHIND = re.compile(r"slice index (\d+) of dimension 0 out of bounds")
"""The first row behind the last one of a tensor, as a loop over the rows of another one asks for it."""

FEW = 20_000
"""Rows up to which twice as many are made up as one asks for: others may ask for more."""

FOLDERS = re.compile(r"a folder with (\d+) folders")
TABLE = re.compile(r"a table of (\d+) rows was made up")
RECEIVED = re.compile(r"\n\s*Arguments received by.*", re.DOTALL)

UNPACKED = re.compile(r"not enough values to unpack \(expected (\d), got (\d)\)")
SHAPE_OF = re.compile(r"=\s*(?:[\w.]+\.)?(\w+)\.(?:shape|get_shape\(\))")
"""What takes the axes of an array apart, as the line that raised has it: `n, height, width, depth = images.shape`."""

OF_AXES = {2: (64,), 3: (32, 32), 4: (64, 64, 3), 5: (16, 32, 32, 3)}
"""What fits where only the number of axes is told, without the first one."""

MOST = 10
"""Shapes that are corrected in one program: each file that is read may have one of its own."""


def corrected(pair: Pair, run: Run) -> Pair | None:
    """The programs with another shape for what the error of a run is about; None where it does not tell."""
    known = pair.before.shapes
    if run.error is None or len(known) >= MOST:
        return None
    made, message = _made(pair, run), RECEIVED.sub("", run.error.message)
    fit = {shape for each in known for shape in each}
    for asked in ([shape for shape in made if shape[1:] not in fit], made):  # those that were corrected come last
        each_told = itertools.chain(_unpacked(pair, run, asked), _told(message, asked), widths.told(message, run.notes))
        told = (each for each in each_told if each not in known and 0 not in each[1])
        first = next((each for each in told if each[0] != each[1] and each[0] not in dict(known)), None)
        if first is not None:
            return shaped(pair, (*known, first))
    rows = next(_rows(run, made), None) if not pair.before.rows else None
    return None if rows is None else with_rows(pair, (rows,))


def with_rows(pair: Pair, rows: tuple[tuple[int, int], ...]) -> Pair:
    """The programs with these corrections of numbers of rows."""
    after = None if pair.after is None else replace(pair.after, rows=rows)
    return replace(pair, before=replace(pair.before, rows=rows), after=after)


def _rows(run: Run, made: Sequence[Sizes]) -> Iterator[tuple[int, int]]:
    """A number of rows that was made up, and the one that would fit, as the error has them."""
    message = run.error.message if run.error is not None else ""
    counts = {each[0] for each in made} | {int(each) for each in FOLDERS.findall("\n".join(run.notes))}
    for found in ROWS.findall(message):
        one, two = map(int, filter(None, found))
        yield from (each for each in ((one, two), (two, one)) if each[0] in counts and each[1] not in {0, *counts})
    for sizes in BROADCAST.findall(message):
        least, most = sorted(map(int, filter(None, sizes)))
        if 1 < least < most and {least, most} <= counts:
            yield most, least
    for given, into in ((_shape(one), _shape(two)) for one, two in COPIED.findall(message)):
        if given[1:] == into[1:] and given[0] in counts and into[0]:
            yield given[0] or 0, into[0]
    for index, there in BEYOND.findall(message):
        if int(there) in counts:
            yield int(there), int(index) + 1 if int(index) >= FEW else 2 * (int(index) + 1)
    for index in map(int, BEHIND.findall(message)):
        more = [count for count in counts if count > index]
        if index in counts and more:
            yield index, min(more)
    reshaped = RESHAPED.search(message)
    tables = {int(each) for each in TABLE.findall("\n".join(run.notes))}
    for rows in tables if reshaped is not None else ():
        assert reshaped is not None
        total, parts = int(reshaped[1]), math.prod(size or 1 for size in _shape(reshaped[2]))
        if total % rows == 0 and parts:
            step = parts // math.gcd(parts, total // rows)
            yield rows, -(-rows // step) * step


def shaped(pair: Pair, shapes: tuple[Fit, ...]) -> Pair:
    """The programs with these corrections of shapes."""
    after = None if pair.after is None else replace(pair.after, shapes=shapes)
    return replace(pair, before=replace(pair.before, shapes=shapes), after=after)


def _made(pair: Pair, run: Run) -> list[Sizes]:
    """The shapes that were made up."""
    text = "\n".join((pair.before.source, *run.notes))
    found = (each for pattern in MADE for each in pattern.findall(text))
    return list(dict.fromkeys(tuple(map(int, re.findall(r"\d+", each))) for each in found))


def _told(message: str, made: Sequence[Sizes]) -> Iterator[Fit]:
    """What was made up and what would fit, both without the first axis, as a message may mean it."""
    for pattern, read in READERS:
        found = pattern.search(message)
        if found is not None:
            yield from read(found, made)
            return
    yield from _by_sizes(message, made)
    yield from _by_shapes(message, made)


def _unpacked(pair: Pair, run: Run, made: Sequence[Sizes]) -> Iterator[Fit]:
    """As `_told`, where the shape of an array has not as many axes as the code has names for: it is the one of that
    name, or the only one with so many."""
    found = UNPACKED.search(run.error.message) if run.error is not None else None
    of = SHAPE_OF.findall(run.error.traceback) if run.error is not None else []
    if found is None or not of or int(found[1]) not in OF_AXES:
        return
    text = "\n".join((pair.before.source, *run.notes))
    named = rf"'?\b{of[-1]}\b'? of .* is not there: \w+\[([\d,]+)\]|\b{of[-1]}=tfmemlint_\w+\(\"\w+\", \(([\d, ]+)\)\)"
    own = {tuple(map(int, re.findall(r"\d+", "".join(each)))) for each in re.findall(named, text)}
    fits = [each for each in made if len(each) == int(found[2]) and (not own or each in own)]
    if len(fits) == 1:
        yield fits[0][1:], OF_AXES[int(found[1])]


def _axis(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    at, size, inner = int(found[1]), int(found[2]), _of(_shape(found[3]), made)
    if inner and -len(inner) <= at < 0:
        yield inner, tuple(size if n == len(inner) + at else each for n, each in enumerate(inner))


def _named(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    inner = _of(_shape(found[2]), made)
    if inner is not None:
        yield inner, tuple(size or 16 for size in _shape(found[1])[1:])


def _axes(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    inner, count = _of(_shape(found[2]), made), int(found[1])
    if inner is not None and count in OF_AXES:
        yield inner, OF_AXES[count]


def _indexed(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    few, many = int(found[1]), int(found[2])
    yield from ((each[1:], OF_AXES[many]) for each in made if len(each) == few and many in OF_AXES)
    if few == 1:  # by what was compared with one label: `rows[labels == 3]`
        yield from ((each[1:], ()) for each in made if len(each) == many)


def _reshaped(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    """All of an array is reshaped, or a row of it."""
    size, inner = int(found[1]), tuple(n or 1 for n in _shape(found[2]))
    parts = math.prod(inner)
    yield from ((each[1:], (parts,)) for each in made if each[1:] and math.prod(each) == size)
    yield from ((each[1:], (-(-size // parts), *inner)) for each in made if math.prod(each[1:]) == size > parts)


def _filled(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    """A last size with which a tensor, made of an array and perhaps some times as large, has the shape for each row."""
    total = int(found[1])
    for each in made:
        if each[1:] and total % math.prod(each) == 0:
            wanted = int(found[3]) * (each[0] if found[2] != "has" else 1) * each[-1]
            if wanted % total == 0:
                yield each[1:], (*each[1:-1], wanted // total)


def _yielded(found: re.Match[str], made: Sequence[Sizes]) -> Iterator[Fit]:
    """What a generator gives of a row, with axes behind those of the row that the code adds."""
    given, wanted = (tuple(size or 64 for size in _shape(each)) for each in found.groups())
    for inner in (each[1:] for each in made if each[1:] and given[: len(each) - 1] == each[1:]):
        yield inner, wanted[: len(wanted) - (len(given) - len(inner))]


READERS = (
    *((AXIS, _axis), (NAMED, _named), (AXES, _axes), (INDEXED, _indexed), (RESHAPED, _reshaped)),
    *((YIELDED, _yielded), (FILLED, _filled)),
)
"""Messages that name what they mean, and what reads them."""


def _by_sizes(message: str, made: Sequence[Sizes]) -> Iterator[Fit]:
    """As `_told`, of a message that has two sizes which have to be the same."""
    for sizes in SIZES.findall(message):
        one, two = map(int, filter(None, sizes))
        for size, other in ((one, two), (two, one)):
            yield from ((each[1:], (*each[1:-1], other)) for each in made if each[1:] and each[-1] == size)


def _by_shapes(message: str, made: Sequence[Sizes]) -> Iterator[Fit]:
    """As `_told`, of a message that has the shapes of two arrays, one of them made up."""
    shapes = [_shape(text) for text in re.findall(SHAPE, message)]
    of_made = [(shape, found) for shape in shapes if (found := _of(shape, made))]
    of_made = of_made or [(shape, found) for shape in shapes if (found := _of(shape, made)) is not None]
    others = [shape for shape in shapes if shape not in [each for each, _ in of_made] and None not in shape[1:]]
    for shape, found in of_made:
        for other in others:
            wanted = other if shape == found else other[1:]
            if wanted:
                yield found, tuple(size or 0 for size in wanted)


def _shape(text: str) -> Shape:
    return tuple(int(each) if each.isdigit() else None for each in re.findall(r"None|\?|\d+", text))


def _of(shape: Shape, made: Sequence[Sizes]) -> Sizes | None:
    """The sizes behind the first axis of what was made up that has this shape; None where there is no one."""
    rows = len(shape) == 1 or (len(shape) == 2 and shape[1] == 1)
    for inner in (
        {each[1:] for each in made if shape and each[1:] and shape in (each, each[1:])},
        {each[1:] for each in made if shape[1:] and each[1:] == shape[1:]},
        {each[1:] for each in made if rows and len(each) == 1},
    ):
        if inner:
            return inner.pop() if len(inner) == 1 else None
    return None
