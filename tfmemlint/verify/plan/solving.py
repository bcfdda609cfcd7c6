"""Parameters that nobody passes, made up so that the code that uses them makes sense.

Each is tried with several numbers of axes, and the function is read with them; what is left is an array whose rank its
use decides. Sizes that must be the same are one prime number, others are other ones, so that a wrong guess fails where
the program runs and is never measured. A parameter that no operation needs an array of is not made up.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node, walk
from tfmemlint.verify.child.usual import is_number
from tfmemlint.verify.plan.growing import bytes_of, fit, number_of, parts_of
from tfmemlint.verify.plan.reading import Reading
from tfmemlint.verify.plan.roles import promises_array, promises_number
from tfmemlint.verify.plan.sizes import NUMBER, ConflictError, Output, Seen, Size, Tensor

KINDS = {2: 0, 3: 1, 1: 1, 4: 4, NUMBER: 5, 5: 6}
"""Numbers of axes, and how unusual they are: most code is about rows of features, and axes more than two are used."""

OUTPUTS = {-2: 0, -4: 2, -3: 3, -1: 4}
"""Numbers of axes of what models give, and how unusual they are."""

PRIMES = (31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)
FULL, SMALL, TINY = 16 << 20, 4 << 20, 1 << 20
"""Bytes that the flagged tensor is given, and those of other runs, in which a saving must be smaller too."""

NEXT = {FULL: SMALL, SMALL: TINY}
"""The bytes of another run, by those of the first; the last ones are for a program that does not fit with more."""

DATA = 2
"""Times as many bytes that arrays have which are data by their names: more rows than buffers hold."""

MOST_READINGS = 300
CHANNELS, CLASSES, FEATURES = 3, 10, 1024
"""Last sizes of pictures, of labels and what models give, and of other data."""


@dataclass(frozen=True)
class Solved:
    """What is made up for one parameter: Python code, and words for people."""

    code: str
    words: str


@dataclass(frozen=True, eq=False)
class Free:
    """A name or an attribute that nothing tells of, as it is written: `self.centers`."""

    path: str


Asked = cst.Param | Free
"""What is solved."""


@dataclass
class Solver:
    """Solves the parameters of functions of a file; `target` are the bytes of the flagged tensor."""

    file: File
    target: int = FULL
    used: bool = field(default=False)
    """Whether anything was solved."""
    models: set[int] = field(default_factory=set)
    """The parameters, by the id of their nodes, that are models: what they give is solved."""
    hinted: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The numbers of axes, the likely ones first, of parameters (by the id of their nodes) that are arrays by their
    names, for where no use tells what they are."""
    whole: set[int] = field(default_factory=set)
    """Those of them that hold whole numbers."""
    widths: dict[int, int] = field(default_factory=dict)
    """Their last sizes, where nothing else has them."""
    skipped: int = 0
    """How many readings that make sense are passed over: what ran with those failed."""
    by_name: set[int] = field(default_factory=set)
    """Those of them that no use tells of, as the last call found."""
    _free: dict[str, int] = field(default_factory=dict)

    def solve(
        self, functions: Sequence[cst.FunctionDef], unknown: Sequence[Asked], flagged: Node | None
    ) -> dict[int, Solved]:
        """What is made up for these, by the id of their nodes; those that stay unknown are left out."""
        reading, told = self._settled(functions, unknown)
        if reading is None:
            return {}
        values = {id(each): reading.given[id(each)] for each in told}
        numbers = self._numbers(reading, list(values.values()), flagged)
        self.used |= any(id(each) not in self.models for each in told)
        names = {id(each): _name(each) for each in told}
        return {key: self._made(reading, values[key], name, numbers) for key, name in names.items()}

    def operands(
        self,
        function: cst.FunctionDef,
        unknown: Sequence[cst.Param],
        names: Sequence[cst.Name],
        flagged: Node,
        free: Sequence[Free] = (),
    ) -> dict[str, Solved]:
        """What is made up for names that are read in a function whose parameters are these, by name: arrays that come
        of parameters whose use tells what they are; and for what is `free`, by path, if its own use tells."""
        reading, told = self._settled([function], [*unknown, *free])
        if reading is None:
            return {}
        keys = {id(each) for each in told}
        values: dict[str, Seen] = {each.path: reading.given[id(each)] for each in free if id(each) in keys}
        for name in names if keys else ():
            value = reading.seen.get(id(name))
            if value is not None and value.sources and value.sources <= keys:
                values[name.value] = value
            elif free and name.value not in values and id(name) in reading.sizes:
                values[name.value] = reading.sizes[id(name)]
        self.used |= bool(values)
        numbers = self._numbers(reading, list(values.values()), flagged)
        return {name: self._made(reading, value, name, numbers) for name, value in values.items()}

    def _made(self, reading: Reading, value: Seen, name: str, numbers: Mapping[int, int]) -> Solved:
        found = _made(reading, value, name, numbers)
        if isinstance(value, Tensor) and value.sources and value.sources <= self.by_name:
            return replace(found, words=found.words.replace("its rank from its use", "its rank by its name"))
        return found

    def _settled(
        self, functions: Sequence[cst.FunctionDef], unknown: Sequence[Asked]
    ) -> tuple[Reading | None, list[Asked]]:
        """The reading that makes sense, and the parameters that it tells the kinds of."""
        self._free = {each.path: id(each) for each in unknown if isinstance(each, Free)}
        kinds = {id(each): self._possible(functions, each) for each in unknown}
        wanted = [each for each in unknown if kinds[id(each)]]
        reading = self._read(functions, {id(each): kinds[id(each)] for each in wanted}) if wanted else None
        if reading is not None:
            reading.integers |= self.whole
        arrays = reading.arrays if reading is not None else frozenset()
        self.by_name = set(self.hinted) - set(arrays)
        return reading, [each for each in wanted if id(each) in arrays or self._is_told(each)]

    def _is_told(self, parameter: Asked) -> bool:
        """Whether it is known what it is, whatever is done with it."""
        promised = isinstance(parameter, cst.Param) and promises_array(parameter)
        return promised or id(parameter) in self.models or id(parameter) in self.hinted

    def _possible(self, functions: Sequence[cst.FunctionDef], parameter: Asked) -> tuple[int, ...]:
        """The kinds of a parameter that contradict nothing by themselves; none where nothing tells that it is one."""
        found: list[int] = []
        told = self._is_told(parameter)
        number = isinstance(parameter, cst.Param) and promises_number(parameter)
        kinds = OUTPUTS if id(parameter) in self.models else (NUMBER,) if number else KINDS
        for kind in kinds:
            reading = self._reading(functions, {id(parameter): kind})
            if reading is not None and (told or id(parameter) in reading.arrays):
                found.append(kind)
        hinted = [kind for kind in self.hinted.get(id(parameter), ()) if kind in found]
        if not told and is_number(_name(parameter).rpartition(".")[2]) and {1, 2, 3, 4} <= set(found):
            return ()  # any array would do, so that a number does
        return tuple(hinted or found)

    def _read(self, functions: Sequence[cst.FunctionDef], kinds: Mapping[int, tuple[int, ...]]) -> Reading | None:
        """The first reading that makes sense with all of them, the usual kinds first; one in which a size has to be 1
        only where there is no other, as few people mean that."""
        unusual = KINDS | OUTPUTS
        choices = [
            [(kind, number if key in self.hinted else unusual[kind]) for number, kind in enumerate(each)]
            for key, each in kinds.items()
        ]
        count = math.prod(map(len, choices))
        tries: Iterator[tuple[tuple[int, int], ...]] = itertools.product(*choices)
        if count <= 1 << 14:
            tries = iter(sorted(tries, key=lambda each: (sum(rare for _, rare in each), sum(kind for kind, _ in each))))
        found: list[tuple[tuple[int, ...], Reading]] = []
        second: list[tuple[tuple[int, ...], Reading]] = []
        for each in itertools.islice(tries, MOST_READINGS):
            tried = tuple(kind for kind, _ in each)
            reading = self._reading(functions, dict(zip(kinds, tried, strict=True)))
            if reading is None:
                continue
            narrow = any(size.number == 1 for key in kinds for size in parts_of(reading.given[key]))
            (second if narrow else found).append((tried, reading))
            if found and not self.skipped:
                break
        return _after([*found, *second], self.skipped)

    def _reading(self, functions: Sequence[cst.FunctionDef], kinds: Mapping[int, int]) -> Reading | None:
        try:
            return Reading(self.file, functions, kinds, self._free)
        except ConflictError:
            return None

    # -- sizes -------------------------------------------------------------------------------------------------------

    def _numbers(self, reading: Reading, values: Sequence[Seen], flagged: Node | None) -> dict[int, int]:
        """A number for each size of these, by the id of what stands for it."""
        roots: dict[int, Size] = {}
        for size in (size for value in values for size in parts_of(value)):
            roots.setdefault(id(size.root), size.root)
        primes = itertools.cycle(PRIMES)
        numbers = {key: root.number if root.number is not None else next(primes) for key, root in roots.items()}
        free = {key for key, root in roots.items() if root.number is None}
        tensors = [each for each in values if isinstance(each, Tensor)]
        tied = {id(size.root) for value in values if not isinstance(value, Output) for size in parts_of(value)}
        numbers |= dict.fromkeys(free - tied, CLASSES)
        for each in tensors:
            width = next((self.widths[key] for key in each.sources if key in self.widths), None)
            if width is not None and each.rank > 1 and self.target >= SMALL:
                numbers |= dict.fromkeys({id(each.sizes[-1].root)} & free, width)
        free &= tied
        largest = max(tensors, key=lambda each: bytes_of(each, numbers), default=None)
        about = self._about(reading, flagged, numbers) or largest
        if about is not None:
            grown, rows = ({id(size.root) for size in about.sizes} & free), self._rows(values)
            target = self.target * (DATA if grown & rows else 1)
            fit(about, [*tensors, *reading.seen.values()], grown & rows or grown, numbers, target)
        return numbers

    def _rows(self, values: Sequence[Seen]) -> set[int]:
        """The numbers of rows of arrays by their names: data sets have many more of them than features."""
        tensors = [each for each in values if isinstance(each, Tensor) and each.rank]
        return {id(each.sizes[0].root) for each in tensors if not each.sources.isdisjoint(self.hinted)}

    def _about(self, reading: Reading, flagged: Node | None, numbers: Mapping[int, int]) -> Tensor | None:
        """The largest tensor of the flagged statement whose size is known."""
        found = [
            tensor
            for node in (walk(flagged) if flagged is not None else ())
            if (tensor := reading.seen.get(id(node))) is not None and tensor.rank and bytes_of(tensor, numbers)
        ]
        return max(found, key=lambda tensor: bytes_of(tensor, numbers), default=None)


def _after(readings: Sequence[tuple[tuple[int, ...], Reading]], skipped: int) -> Reading | None:
    """The reading to try after so many others, the first one first: each differs in as many parameters from those
    before it as there is one."""
    left = list(readings)
    tried = left[:1]
    for _ in range(skipped if left else 0):
        others = [each for each in left if each not in tried]
        if not others:
            break
        tried.append(max(others, key=lambda each: min(sum(map(operator.ne, each[0], one[0])) for one in tried)))
    return tried[-1][1] if tried else None


def _name(asked: Asked) -> str:
    return asked.path if isinstance(asked, Free) else asked.name.value


def _made(reading: Reading, value: Seen, name: str, numbers: Mapping[int, int]) -> Solved:
    shape = tuple(number_of(size, numbers) for size in parts_of(value))
    if isinstance(value, Output):
        given = f"a small model that gives rows of {','.join(map(str, shape))}"
        return Solved(f'tfmemlint_model("{name}", {shape})', f"{name} is made up as {given}: its rank from its use")
    if not isinstance(value, Tensor):
        return Solved(str(shape[0]), f"{name} is made up as {shape[0]}: it is used as a size")
    dtype = value.dtype or _dtype(reading, value)
    maker = "tfmemlint_array" if value.sources & reading.of_numpy else "tfmemlint_tensor"
    words = f"{dtype}[{','.join(map(str, shape))}]"
    return Solved(f'{maker}("{dtype}", {shape})', f"{name} is made up as {words}: its rank from its use")


def _dtype(reading: Reading, value: Tensor) -> str:
    from_one = len(value.sources) == 1
    if value.whole or (from_one and value.sources <= reading.integers):
        return "int32"
    return "bool" if from_one and value.sources <= reading.booleans else "float32"


def unpassed(function: cst.FunctionDef, method: bool) -> Iterator[cst.Param]:
    """The parameters that a call has to give, or may: `self`, `*args` and `**kwargs` left out."""
    for number, parameter in enumerate(parameters(function)):
        if not (method and number == 0) and parameter.star not in ("*", "**"):
            yield parameter
