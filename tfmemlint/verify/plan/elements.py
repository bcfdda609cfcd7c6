"""Data sets of which something is not known, made up: how large their elements are, and how many.

What a step of a pipeline costs is decided by its elements and their number, not by where they come from. Sizes that are
not known are filled in where one array of an element is known: elements of which nothing is known are not made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.file import File
from tfmemlint.model.values import Api, Array, Dataset, Mapping, Value, integer
from tfmemlint.model.values import Sequence as Items
from tfmemlint.query.pipelines.pipelines import batched
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.child.usual import holds_settings, usual
from tfmemlint.verify.plan.made_up import code_for
from tfmemlint.verify.plan.solving import Solved

STEP = "tf.data.Dataset."
BATCH, BUFFER = 32, 64
"""Numbers for a batch and for a buffer of which nothing is known."""

NUMBERS = {"batch_size": BATCH, "buffer_size": BUFFER, "count": 2, "num_parallel_calls": 2, "cycle_length": 2}
"""Parameters of steps that are whole numbers, with the number that is given where nobody knows it."""

CHOSEN = "-1"
"""What `tf.data.AUTOTUNE` is."""

SIDES, LONG = (192, 64), (512, 64)
"""Sizes of pictures and of other axes: those of a first run, and those of another one, in which a saving must be
smaller."""

ROWS = 2048
"""Rows of arrays of which nobody knows how many they are."""

SLICES = "tf.data.Dataset.from_tensor_slices"
LOOKS = frozenset(
    STEP + name for name in ("map", "filter", "interleave", "flat_map", "scan", "apply", "reduce", "padded_batch")
)
"""Steps that decide by what the elements are."""

BATCHES = ("batch", "padded_batch")
COUNTS = re.compile(
    r"(num|n|no|total|max)_?(\w+_)?(elements?|examples?|files?|images?|items?|records?|rows?|samples?|train|data)"
    r"|(data_?set|data|train(ing)?|test|val|image|sample|example)s?_?(size|count|len|length|num)",
    re.IGNORECASE,
)
"""Names of the numbers of elements that a data set has."""

READS = ("reads_folder", "reads_records", "gives_batches", "lists_files")
"""Groups of what makes data sets of files."""

CHANNELS = (1, 3, 4)
IN_ALL, MOST_IN_ALL = 192 << 20, 512 << 20
"""Bytes of all elements that are made up where no count is known, and of those of a known count."""

FEWEST, MOST, STRINGS = 12, 4096, 256
"""Elements where no count is known: the fewest and the most, and those that are texts or names."""


@dataclass
class Elements:
    """Makes up data sets; `large` says which of two sizes is taken."""

    file: File
    large: bool
    least: int = 0
    """Bytes that all elements together must have at the least, for what is claimed to be seen."""
    sized: bool = field(default=False)
    """Whether any size was made up."""
    guessed: bool = field(default=False)
    """Whether any number that a step is given was."""
    cut: bool = field(default=False)
    """Whether there are fewer elements than are known of, or than have the bytes that are claimed."""
    words: dict[str, str] = field(default_factory=dict)
    """What was made up, in words for people, by the text of the expression."""
    _counts: list[int] = field(default_factory=list)
    """The numbers of elements that are no batches, and of rows that data sets are made of, where they were made up."""

    def made(self, node: Node) -> str | None:
        """Code for what an expression stands for: a data set, the rows that one is made of, a number that a step is
        given; None for anything else, and where too little is known."""
        value = self.file.value(node)
        sets = [each for each in value.options if isinstance(each, Dataset)]
        if sets:
            return self._said(node, self._dataset(sets))
        if code_for(value) is not None:
            return None
        number = self._number(node)
        if number == BUFFER and self._counts and self._is_shuffled(node) and self._is_count(node):
            number = self._counts[-1]
        if number is not None:
            return self._said(node, str(self._chosen(value, number)))
        return self._said(node, self._rows(value)) if self._is_sliced(node) else None

    def read(self, node: Node) -> str | None:
        """Code for a call that makes a data set of files."""
        value = self.file.value(node)
        call = value.call if isinstance(value, Dataset) and not value.steps else None
        reads = call is not None and call.node is node and any(knowledge.in_group(call.name, each) for each in READS)
        return self.made(node) if reads else None

    def names_things(self, node: Node) -> bool:
        """Whether an expression is a data set of texts, or of names of files."""
        value = self.file.value(node)
        return isinstance(value, Dataset) and any(leaf.dtype == "string" for leaf in _leaves(value.element))

    def too_little(self, name: cst.Name, word: str) -> str:
        """What to write where nothing can be made up for a name, of which `word` is asked."""
        example = "float32[32,10]"
        if word == name.value and any(isinstance(each, Dataset) for each in self.file.value(name).options):
            word, example = f"the elements of {word}", "dataset(float32[28,28,1], int64[])"
        return f"too little is known of {word}; say what it is: # tfmemlint: example {name.value}={example}"

    def setting(self, name: cst.Name, word: str) -> Solved | None:
        """The number that is usual for a field of settings: `args.num_classes`; None for anything else."""
        field = word.removeprefix(f"{name.value}.")
        value = usual(field) if field.isidentifier() and holds_settings(name.value) else None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        self.guessed = True
        value = value if self.large or isinstance(value, float) else max(1, value // 4)
        return Solved(repr(value), f"{word} is made up as {value}")

    def _said(self, node: Node, code: str | None) -> str | None:
        if code is not None and code != CHOSEN:
            what = code.replace("tfmemlint_dataset", "elements and their number: ")
            text = self.file.text(node)
            self.words[text] = f"{' '.join(text.split())} is made up as {what}"
        return code

    def _chosen(self, value: Value, number: int) -> int:
        """The number that a step is given: the largest of several that it may be, -1 where TensorFlow chooses, else
        the usual `number`."""
        known = [found for each in value.options if (found := integer(each)) is not None]
        if known:
            return max(known)
        if any(isinstance(each, Api) and each.name.endswith("AUTOTUNE") for each in value.options):
            return int(CHOSEN)
        self.guessed = True
        return number

    def _dataset(self, sets: Sequence[Dataset]) -> str | None:
        ds = next((each for each in sets if _leaves(each.element)), sets[0])
        rows = self._rows_of_batch(ds)
        holds_array = any(len(leaf.shape or ()) > bool(rows) for leaf in _leaves(ds.element))
        if not holds_array and (ds.element is None or not _is_whole(ds.element)):
            return None  # what elements of any size would show says nothing of the user's
        element = self._filled(ds.element, rows)
        return code_for(replace(ds, element=element, count=self._count(ds, element))) if element is not None else None

    def _rows(self, value: Value) -> str | None:
        """Rows of which a data set is made: an array of which not all sizes are known."""
        if isinstance(value, Array) and value.dtype is not None and value.shape:
            count = value.shape[0] or ROWS
            self._counts.append(count)
            return code_for(replace(value, shape=(count, *self._sizes(value.shape[1:]))))
        return None

    def _is_sliced(self, node: Node) -> bool:
        """Whether an expression is what a data set is made of, or a part of it."""
        for above in self.file.tree.ancestors(node):
            if isinstance(above, cst.Call):
                call = self.file.call(above)
                tensors = call.arg("tensors") if call.name == SLICES else None
                return tensors is not None and self.file.tree.contains(tensors.expression, node)
            if not isinstance(above, (cst.Arg, cst.Tuple, cst.Element, cst.Dict, cst.DictElement)):
                return False
        return False

    def _number(self, node: Node) -> int | None:
        """A number for what a step is given as its batch size, buffer or count."""
        for above in self.file.tree.ancestors(node):
            if isinstance(above, cst.Call):
                call = self.file.call(above)
                if not (call.name or "").startswith(STEP):
                    return None
                given = ((call.arg(name), number) for name, number in NUMBERS.items())
                return next((n for arg, n in given if arg and self.file.tree.contains(arg.expression, node)), None)
            if not isinstance(above, (cst.Arg, cst.BinaryOperation)):
                return None
        return None

    def _is_shuffled(self, node: Node) -> bool:
        """Whether the nearest step that an expression is given to shuffles elements that are no batches."""
        calls = (self.file.call(each) for each in self.file.tree.ancestors(node) if isinstance(each, cst.Call))
        step = next((call for call in calls if (call.name or "").startswith(STEP)), None)
        return step is not None and step.name == STEP + "shuffle" and not any(map(batched, step.datasets()))

    def _is_count(self, node: Node) -> bool:
        """Whether an expression is how many elements there are, as far as one can read: `len(rows)`, `rows.shape[0]`,
        `num_examples`, or a name for one of these."""
        text = self.file.text(node)
        if isinstance(node, cst.Name) and (found := self.file.written(node)) is not node:
            node, text = found, self.file.text(found)
        if isinstance(node, cst.Call):
            return text.startswith("len(") or "cardinality(" in text
        return text.endswith(".shape[0]") or COUNTS.fullmatch(text.split(".")[-1]) is not None

    def _rows_of_batch(self, ds: Dataset) -> int:
        """The first axis of what are batches; 0 for what are none. Where a batch may have several sizes it has the one
        that other steps are given, too, which say the same name."""
        if not batched(ds):
            return 0
        firsts = [leaf.shape[0] for leaf in _leaves(ds.element) if leaf.shape]
        sizes = [step.call.arg("batch_size") for step in ds.steps if step.call is not None and step.name in BATCHES]
        given = self.file.value(sizes[-1].expression).options if sizes and sizes[-1] is not None else ()
        may_be = [number for each in given if (number := integer(each)) is not None]
        return next((size for size in firsts if size), max(may_be, default=BATCH))

    def _filled(self, value: Value, rows: int) -> Value | None:
        """An element with all its sizes; `rows` is the first axis of each part, 0 where that is not known."""
        if isinstance(value, Array) and value.dtype is not None and value.shape is not None:
            return replace(value, shape=self._sizes(value.shape, rows))
        if isinstance(value, Items) and not value.open and value.items:
            items = [self._filled(item, rows) for item in value.items]
            return None if None in items else replace(value, items=tuple(filter(None, items)))
        if isinstance(value, Mapping) and not value.open and value.items:
            filled = [(key, self._filled(item, rows)) for key, item in value.items]
            known = tuple((key, item) for key, item in filled if item is not None)
            return replace(value, items=known) if len(known) == len(filled) else None
        return Array("tf", "int64", (rows,) if rows else ())  # the least that it can be, beside an array

    def _sizes(self, shape: tuple[int | None, ...], rows: int = 0) -> tuple[int, ...]:
        lead = shape[:1] if rows else ()
        inner = shape[len(lead) :]
        self.sized |= None in inner
        picture = len(inner) == 3 and inner[-1] in (*CHANNELS, None)
        side, last = self._of(SIDES if picture else LONG), 3 if picture else self._of(LONG)
        filled = [side if size is None else size for size in inner]
        if inner and inner[-1] is None:
            filled[-1] = last
        return (*(rows if size is None else size for size in lead), *filled)

    def _of(self, sizes: tuple[int, int]) -> int:
        return sizes[0 if self.large else 1]

    def _count(self, ds: Dataset, element: Value | None) -> int:
        each = sum(leaf.bytes or 0 for leaf in _leaves(element)) if element is not None else 0
        wanted = min(MOST_IN_ALL, max(IN_ALL, self.least * 5 // 4))
        if ds.count is not None:
            count = min(ds.count, max(FEWEST, MOST_IN_ALL // each)) if each else ds.count
        elif element is None or any(leaf.dtype == "string" for leaf in _leaves(element)):
            count = STRINGS
        else:
            count = enough(each, wanted)
        if not batched(ds):
            self._counts.append(count)
        self.guessed |= ds.count is None
        self.cut |= count < ds.count if ds.count is not None else each * count < self.least
        return count


def enough(each: int, wanted: int = IN_ALL) -> int:
    """How many elements of so many bytes come to about the bytes that are wanted of all."""
    return max(FEWEST, min(MOST, wanted // max(1, each)))


def is_known_in_part(value: Value) -> bool:
    """Whether a value is a data set that steps of the file make, with elements of which one array is known and another
    is not."""
    if not isinstance(value, Dataset) or not any(STEP + step.name in LOOKS for step in value.steps):
        return False
    return bool(_leaves(value.element)) and not _is_whole(value.element)


def _is_whole(value: Value) -> bool:
    if isinstance(value, Items):
        return not value.open and all(map(_is_whole, value.items))
    if isinstance(value, Mapping):
        return not value.open and all(_is_whole(item) for _, item in value.items)
    return isinstance(value, Array) and value.dtype is not None and value.shape is not None


def _leaves(value: Value | None) -> list[Array]:
    """The arrays of an element whose dtype and rank are known."""
    return list(_arrays(value)) if value is not None else []


def _arrays(value: Value) -> Iterator[Array]:
    if isinstance(value, Array) and value.dtype is not None and value.shape is not None:
        yield value
    elif isinstance(value, Items):
        for item in value.items:
            yield from _arrays(item)
    elif isinstance(value, Mapping):
        for _, item in value.items:
            yield from _arrays(item)


