"""The modules of a project that one file leads to: found, read and parsed when a value of theirs is asked for."""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.files.bounded_read import digest_of, read_regular
from tfmemlint.project.by_words import Outline, Outlines, outline
from tfmemlint.project.importers import IMPORTERS
from tfmemlint.project.kept import Kept
from tfmemlint.project.layout import Found, Layout
from tfmemlint.project.mentioned import (
    all_led_to,
    importers_leading_to,
    nearest,
    texts_of_importers,
    texts_within_reach,
    words_leading_to,
)
from tfmemlint.project.projects import Project
from tfmemlint.project.required import required, told_by
from tfmemlint.project.texts import Text, is_unit_test, text_of
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.spans import MakeSpans, Offsets, generated
from tfmemlint.text.code_words import words_of_calls
from tfmemlint.text.pins import NONE, Pins
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source, SourceError

if TYPE_CHECKING:
    from tfmemlint.finding import Span

MOST_MODULES = 60
"""Modules that are followed for one file; of any others nothing is known."""

MOST_BESIDE = 60
"""Programs in one folder whose texts are looked at for another one of them."""

LARGEST = 1 << 20
"""Bytes of a module that is followed; what is larger was written by a program."""

Parse = Callable[[Source], "cst.Module | None"]


class Sibling(Program):
    """A module of the project beside the file that is linted. `path` is absolute."""

    def __init__(
        self, path: str, source: Source, module: cst.Module, digest: bytes, place: int, spans: MakeSpans = generated
    ) -> None:
        super().__init__(module)
        self._make_spans = spans
        self.path = path
        self.source = source
        self.digest = digest
        self.imported: dict[str, tuple[dict[str, bytes], Any]] = {}
        """What importing the module does, by the name of what is asked: see `model.effects`. With the digests of the
        files that it rests on, itself among them."""
        self.tree.base = place

    @cached_property
    def spans(self) -> Offsets:
        """Offsets of all nodes."""
        return self._make_spans(self.tree, self.source.text)

    def span(self, node: cst.CSTNode) -> Span:
        """The characters of a node in the module's own text."""
        from tfmemlint.finding import Span

        return Span(*self.spans[node])


@dataclass(frozen=True, slots=True)
class Reader:
    """How modules are read. `kept` are those that the process has read in this way."""

    parse: Parse
    spans: MakeSpans
    kept: Kept


_KEPT = Kept()


class Siblings:
    """The modules that one file leads to.

    `read` says for each file that had a part in the answers the digest of its bytes, and None for those that could not
    be read; with `layout.probed` it is what the answers rest on.
    """

    def __init__(self, path: str, root: str, read: Parse | Reader, project: Project | None = None) -> None:
        self.path = os.path.abspath(path)
        self._project = Project(root) if project is None else project
        self.layout = Layout(root, self._project.layout)
        self.read: dict[str, bytes | None] = {}
        self._reader = read if isinstance(read, Reader) else Reader(read, generated, _KEPT)
        self._programs: dict[str, Sibling | None] = {}
        self._importers_of: set[str] = set()
        self._within_reach: dict[str, tuple[tuple[str, Text], ...] | None] = {}
        self._outlines: tuple[Sequence[tuple[str, Text]], Outlines] | None = None
        self._nearest: dict[str, frozenset[str] | None] = {}

    @property
    def rests_on(self) -> dict[str, bytes | None]:
        """The files that had a part in the answers, by path: a hash of what was read, b"" for what need only be there,
        and None for what must not be."""
        there = {path: b"" if is_there else None for path, is_there in self.layout.probed.items()}
        asked = {f"{IMPORTERS}{path}": self._project.importers.state(path) for path in sorted(self._importers_of)}
        return {**there, **self.read, **asked}

    def read_by(self, reader: Reader) -> Siblings:
        """The same modules, read in another way."""
        other = copy.copy(self)
        other._reader, other._programs = reader, {}
        return other

    def text(self, path: str) -> Text | None:
        """What the text of a file tells; None where it cannot be read."""
        texts = self._project.texts
        if path not in texts:
            data = self.data(path)
            digest = self.read[path]
            texts[path] = digest, text_of(data, digest) if data is not None and digest is not None else None
        self.read[path], text = texts[path]
        return text

    def outline(self, path: str) -> Outline | None:
        """The functions and classes that the text of a file shows; None where it cannot be read."""
        outlines = self._project.outlines
        if path not in outlines:
            data = self.data(path)
            outlines[path] = outline(data.decode(errors="replace")) if data is not None else None
        self.text(path)
        return outlines[path]

    def outlines(self, modules: Sequence[tuple[str, Text]]) -> Outlines:
        """The outlines of the modules within reach of a program."""
        known = self._outlines
        if known is None or known[0] is not modules:
            found = {path: each for path, _ in modules if (each := self.outline(path)) is not None}
            known = self._outlines = modules, Outlines(found)
        return known[1]

    @cached_property
    def required(self) -> Pins:
        """The latest versions that the project lets the file run with."""
        return required(self)

    def pins(self, path: str) -> Pins:
        """Which versions a file of requirements asks for; none where it cannot be read."""
        known = self._project.pins
        if path not in known:
            data = self.data(path)
            known[path] = self.read[path], told_by(path, data.decode(errors="replace")) if data is not None else NONE
        self.read[path], found = known[path]
        return found

    def words_leading_to(self, program: str, names: tuple[str, ...], depth: int) -> frozenset[str] | None:
        """The words by which a program may call functions of other modules that use one of some APIs, or that call such
        a function, so many calls deep; None where these may be any words."""
        modules = self._reached(program)
        return words_leading_to(self, modules, names, depth) if modules is not None else None

    def around(self, program: str) -> tuple[Text, ...]:
        """What the texts tell of the modules that a program imports, however far, and of those that import this file,
        unit tests left out: they run in one process with it. Empty where they are too many."""
        reached = self._reached(program)
        found = dict((*reached, *texts_of_importers(self))) if reached is not None else {}
        return tuple(found[path] for path in sorted(found))

    def _reached(self, program: str) -> tuple[tuple[str, Text], ...] | None:
        if program not in self._within_reach:
            self._within_reach[program] = texts_within_reach(self, program)
        return self._within_reach[program]

    def importing_files(self, of: str | None = None) -> list[str]:
        """The files of the project that may import the module in this file, or in another one of the project."""
        self._importers_of.add(of or self.path)
        return self._project.importers.of(of or self.path)

    def beside(self, library: str) -> list[Text]:
        """What the texts tell of the other files in the same folder that import a library: programs that are run in
        turn, and so with the same versions of it. None of them where they are too many."""
        folder = os.path.dirname(self.path)
        found = [path for path in self.importing_files(os.path.join(folder, f"{library}.py")) if path != self.path]
        paths = [path for path in found if os.path.dirname(path) == folder]
        texts = map(self.text, paths if len(paths) <= MOST_BESIDE else ())
        return [text for text in texts if text is not None]

    def importers(self, words: Iterable[str], *, in_tests: bool = True, of: str | None = None) -> list[str]:
        """Those of them that hold one of some words; unit tests among them if `in_tests`."""
        found = ((path, self.text(path)) for path in self.importing_files(of))
        holding = [(path, text) for path, text in found if text is not None and not text.words.isdisjoint(words)]
        return [path for path, text in holding if in_tests or not is_unit_test(path, text)]

    def callers(self, words: Iterable[str]) -> list[str]:
        """The files that import this one, unit tests left out, whose code may call something by one of some words."""
        names = frozenset(words)
        return [path for path in self._leading_here if not names.isdisjoint(self._calls(path))]

    @cached_property
    def _leading_here(self) -> list[str]:
        return [path for path, _ in importers_leading_to(self)]

    def _calls(self, path: str) -> frozenset[str]:
        known = self._project.calls
        if path not in known:
            data = self.data(path)
            known[path] = words_of_calls(data.decode(errors="replace")) if data is not None else frozenset()
        return known[path]

    def find(self, importer: str, name: str) -> Found | None:
        """What a dotted name leads to for a file of the project that imports it."""
        return self.layout.find(importer, name)

    def program(self, path: str, start: str) -> Sibling | None:
        """The module in a file; None where it cannot be read or parsed, and where it is not among the MOST_MODULES that
        the program with the text `start` comes to first."""
        if path not in self._programs:
            self._programs[path] = self._load(path) if self._is_near(path, start) else None
        return self._programs[path]

    def _is_near(self, path: str, start: str) -> bool:
        near = self._near(start)
        return near is None or path in near

    def _near(self, start: str) -> frozenset[str] | None:
        """The files of which modules are followed for a program; None for all that anything leads to."""
        if start not in self._nearest:
            self._nearest[start] = nearest(self, start, MOST_MODULES)
        return self._nearest[start]

    def any_followed_holds(self, program: str, words: frozenset[str]) -> bool:
        """Whether the code of some module from which a value may come to a program holds one of some words: it imports
        that module, however far, or is called by one that comes to it."""
        near = self._near(program)
        paths = all_led_to(self, program, self._leading_here) if near is None else sorted(near)
        texts = map(self.text, paths)
        return any(text is not None and not text.of_code.isdisjoint(words) for text in texts)

    def kept(self, source: Source) -> Sibling | None:
        """What is known of the file itself, by those that lead to it, while its text is the same."""
        is_known, sibling = self._reader.kept.get(self.path, digest_of(source.data))
        return sibling if is_known else None

    def parsed(self, source: Source, module: cst.Module) -> None:
        """Keep the tree of the file itself for those that lead to it."""
        if source.path.endswith(".py") and len(source.data) <= LARGEST and self.kept(source) is None:
            digest = digest_of(source.data)
            self._reader.kept.put(self.path, digest, self._sibling(self.path, source, module, digest), len(source.data))

    def data(self, path: str) -> bytes | None:
        """The bytes of a file, whose digest is in `read` then; None where it cannot be read."""
        self.read[path] = None
        unsaved = self._project.unsaved.get(path)
        try:
            data = read_regular(path, LARGEST) if unsaved is None else unsaved
        except OSError:
            return None
        if len(data) > LARGEST:
            return None
        self.read[path] = digest_of(data)
        return data

    def _load(self, path: str) -> Sibling | None:
        data = self.data(path)
        digest = self.read[path]
        if data is None or digest is None:
            return None
        is_known, sibling = self._reader.kept.get(path, digest)
        if not is_known:
            sibling = self._made(path, data, digest)
            self._reader.kept.put(path, digest, sibling, len(data))
        return sibling

    def _made(self, path: str, data: bytes, digest: bytes) -> Sibling | None:
        try:
            source = read_source(data, path)
        except SourceError:
            return None
        module = self._reader.parse(source)
        return None if module is None else self._sibling(path, source, module, digest)

    def _sibling(self, path: str, source: Source, module: cst.Module, digest: bytes) -> Sibling:
        # Nodes of several modules have an order, too, which must not depend on the one that was read first.
        name = os.path.relpath(path, self.layout.root).replace(os.sep, "/")
        place = int.from_bytes(hashlib.blake2b(name.encode(errors="replace"), digest_size=6).digest(), "big") + 1
        return Sibling(path, source, module, digest, place << 32, self._reader.spans)
