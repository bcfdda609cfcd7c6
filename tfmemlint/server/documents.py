"""What is open in the editor: files and notebooks with their texts, and the bytes that they would have on disk."""

from __future__ import annotations

import io
import json
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path, uri_scheme

from tfmemlint.server.positions import UTF16, Encoding, Lines
from tfmemlint.text.read import READERS

CODE_CELL = types.NotebookCellKind.Code
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
"""The halves of a character that came in two changes."""


class Text:
    """A text of the editor: a file, or a cell of a notebook. `version` is the client's, for edits."""

    def __init__(self, item: types.TextDocumentItem, encoding: Encoding = UTF16) -> None:
        self.uri = item.uri
        self.language = item.language_id
        self.version: int | None = item.version
        self.encoding = encoding
        self.lines = Lines(item.text, encoding)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.lines.text

    def change(self, changes: Iterable[types.TextDocumentContentChangeEvent], version: int | None) -> None:
        """Make the changes, each in the text that the one before it has left."""
        for change in changes:
            text = change.text
            if isinstance(change, types.TextDocumentContentChangePartial):
                start, end = (self.lines.offset(each) for each in (change.range.start, change.range.end))
                text = self.text[:start] + change.text + self.text[max(start, end) :]
            self.lines = Lines(_PAIR.sub(_joined, text), self.encoding)
        self.version = version


@dataclass(eq=False)
class Document:
    """Something that is linted as a whole. `is_unsaved`: it may not be on disk as it is open."""

    uri: str
    is_unsaved: bool = False

    @property
    def path(self) -> str:
        """The path of the file, absolute; for what lies on no disk a name that tells its kind."""
        found = to_fs_path(self.uri) if self.is_file else None
        return os.path.abspath(found) if found else f"untitled{self.ending}"

    @property
    def is_file(self) -> bool:
        """Whether it is a file on a disk that we can see."""
        return bool(uri_scheme(self.uri) == "file")

    @property
    def ending(self) -> str:
        """The ending of the name that it has while it is saved nowhere."""
        raise NotImplementedError

    def data(self) -> bytes:
        """The bytes that saving it would write."""
        raise NotImplementedError

    def text_at(self, cell: int | None) -> Text | None:
        """The text of a cell by its number, from 1; of a file without."""
        raise NotImplementedError

    def cell_of(self, uri: str) -> int | None:
        """The number of the cell of this address, from 1; None for a file."""
        raise NotImplementedError

    def texts(self) -> Iterator[tuple[int | None, Text]]:
        """All texts with the number of their cell."""
        raise NotImplementedError


@dataclass(eq=False)
class FileDocument(Document):
    """An open file."""

    text: Text = field(kw_only=True)

    @property
    def ending(self) -> str:
        return ".py"

    @property
    def is_python(self) -> bool:
        """Whether it may hold a program: one of Python, or a document with blocks of it."""
        return self.text.language == "python" or self.is_markup or self.path.lower().endswith((".py", ".pyi"))

    @property
    def is_markup(self) -> bool:
        """Whether programs are only a part of it: a document, or the JSON of a notebook in an editor of texts."""
        return self.path.lower().endswith(tuple(READERS))

    def data(self) -> bytes:
        if self.is_markup:
            return self.text.text.encode("utf-8", "surrogatepass")
        return encoded(self.text.text)

    def text_at(self, cell: int | None) -> Text | None:
        return self.text

    def cell_of(self, uri: str) -> int | None:
        return None

    def texts(self) -> Iterator[tuple[int | None, Text]]:
        yield None, self.text


@dataclass(eq=False)
class NotebookDocument(Document):
    """An open notebook, whose code cells are one program."""

    cells: list[types.NotebookCell] = field(default_factory=list)
    by_uri: dict[str, Text] = field(default_factory=dict)
    metadata: Any = None

    @property
    def ending(self) -> str:
        return ".ipynb"

    @property
    def path(self) -> str:
        found = super().path
        return found if found.lower().endswith(".ipynb") else f"{found}.ipynb"

    def data(self) -> bytes:
        cells = [self._cell(cell) for cell in self.cells]
        metadata = self.metadata.get("metadata") if isinstance(self.metadata, dict) else None
        whole = {"cells": cells, "metadata": metadata if isinstance(metadata, dict) else {}, "nbformat": 4}
        return json.dumps({**whole, "nbformat_minor": 5}, default=str).encode()

    def _cell(self, cell: types.NotebookCell) -> dict[str, Any]:
        text = self.by_uri.get(cell.document)
        if cell.kind is not CODE_CELL or text is None:
            return {"cell_type": "markdown", "metadata": {}, "source": ""}
        marks = {} if text.language == "python" else {"vscode": {"languageId": text.language}}
        made = {"cell_type": "code", "metadata": marks, "source": text.text}
        return {**made, "outputs": [], "execution_count": None}

    def text_at(self, cell: int | None) -> Text | None:
        number = cell or 1
        return self.by_uri.get(self.cells[number - 1].document) if 0 < number <= len(self.cells) else None

    def cell_of(self, uri: str) -> int | None:
        return next((number for number, each in enumerate(self.cells, start=1) if each.document == uri), None)

    def texts(self) -> Iterator[tuple[int | None, Text]]:
        for number in range(1, len(self.cells) + 1):
            text = self.text_at(number)
            if text is not None:
                yield number, text

    def change(self, change: types.NotebookDocumentChangeEvent, encoding: Encoding) -> list[str]:
        """Make a change of the notebook; the addresses of the cells that it closed."""
        if change.metadata is not None:
            self.metadata = change.metadata
        cells = change.cells
        if cells is None:
            return []
        closed = self._restructure(cells.structure, encoding) if cells.structure is not None else []
        for new in cells.data or ():
            self.cells = [new if each.document == new.document else each for each in self.cells]
        for content in cells.text_content or ():
            text = self.by_uri.get(content.document.uri)
            if text is not None:
                text.change(content.changes, content.document.version)
        return closed

    def _restructure(self, structure: types.NotebookDocumentCellChangeStructure, encoding: Encoding) -> list[str]:
        array = structure.array
        self.cells[array.start : array.start + array.delete_count] = array.cells or []
        self.by_uri.update({item.uri: Text(item, encoding) for item in structure.did_open or ()})
        closed = [each.uri for each in structure.did_close or ()]
        for uri in closed:
            self.by_uri.pop(uri, None)
        return closed


def notebook(params: types.DidOpenNotebookDocumentParams, encoding: Encoding) -> NotebookDocument:
    """A notebook as it was opened."""
    opened = params.notebook_document
    texts = {item.uri: Text(item, encoding) for item in params.cell_text_documents}
    return NotebookDocument(opened.uri, cells=list(opened.cells), by_uri=texts, metadata=opened.metadata)


def encoded(text: str) -> bytes:
    """The bytes of a Python file, in the encoding that its first lines declare, so that it is read as it would be from
    disk. Characters that this encoding lacks are replaced: their number, and so all places, stay."""
    name = "utf-8"
    if "coding" in text[:4096]:
        head = io.BytesIO(text[:4096].encode("utf-8", "replace"))
        try:
            name = tokenize.detect_encoding(head.readline)[0]
        except (SyntaxError, UnicodeError):
            name = "utf-8"
    if name.startswith("utf-8"):  # the mark of utf-8-sig is a character of the text
        return text.encode("utf-8", "surrogatepass")
    try:
        return text.encode(name, "replace")
    except (UnicodeError, LookupError):
        return text.encode("utf-8", "surrogatepass")


def _joined(pair: re.Match[str]) -> str:
    return pair.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def cells_of(data: bytes) -> Sequence[str]:
    """The sources of the cells of a notebook that `NotebookDocument.data` made and a repair has changed."""
    sources = [cell["source"] for cell in json.loads(data)["cells"]]
    return [source if isinstance(source, str) else "".join(source) for source in sources]
