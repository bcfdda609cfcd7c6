"""Notebooks in an editor: their cells are one program, and marks and edits lie in the cells."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from rpc import Client, Json, marked

IMPORT = "import tensorflow as tf\nfiles = '😀'\n"
PIPELINE = "%matplotlib inline\nds = tf.data.TFRecordDataset(files).map(lambda x: tf.zeros((224, 224, 3))).batch(32)\n"
USE = "n = '😀'; ds = ds.prefetch(1000)"
QUICK = "Let TensorFlow choose the buffer (TFM304)"


class Notebook:
    """A notebook that is open in an editor."""

    def __init__(self, client: Client, name: str, cells: list[str], kinds: list[int] | None = None) -> None:
        self.client = client
        self.uri = client.uri(name)
        self.version = 1
        self.uris: list[str] = []
        items = [self.item(text) for text in cells]
        self.uris = [item["uri"] for item in items]
        self.kinds = kinds or [2] * len(cells)
        document = {"uri": self.uri, "notebookType": "jupyter-notebook", "version": 1, "cells": self.cells()}
        client.notify("notebookDocument/didOpen", notebookDocument=document, cellTextDocuments=items)

    def item(self, text: str) -> Json:
        uri = f"{self.uri.replace('file:', 'vscode-notebook-cell:')}#{len(self.client.texts)}"
        self.client.texts[uri], self.client.versions[uri] = text, 1
        return {"uri": uri, "languageId": "python", "version": 1, "text": text}

    def cells(self) -> list[Json]:
        return [{"kind": kind, "document": uri} for kind, uri in zip(self.kinds, self.uris, strict=True)]

    def notify(self, **cells: Any) -> None:
        self.version += 1
        document = {"uri": self.uri, "version": self.version}
        self.client.notify("notebookDocument/didChange", notebookDocument=document, change={"cells": cells})

    def change(self, cell: int, text: str) -> None:
        uri = self.uris[cell]
        self.client.texts[uri] = text
        self.client.versions[uri] += 1
        document = {"uri": uri, "version": self.client.versions[uri]}
        self.notify(textContent=[{"document": document, "changes": [{"text": text}]}])

    def insert(self, at: int, text: str) -> None:
        item = self.item(text)
        self.uris.insert(at, item["uri"])
        self.kinds.insert(at, 2)
        array = {"start": at, "deleteCount": 0, "cells": [{"kind": 2, "document": item["uri"]}]}
        self.notify(structure={"array": array, "didOpen": [item]})

    def remove(self, at: int) -> None:
        uri = self.uris.pop(at)
        self.kinds.pop(at)
        self.notify(structure={"array": {"start": at, "deleteCount": 1}, "didClose": [{"uri": uri}]})

    def found(self, cell: int, *codes: str) -> list[Json]:
        """The diagnostics of a cell, once they have these codes."""
        uri = self.uris[cell]

        def is_so() -> bool:
            now = self.client.diagnostics.get(uri)
            return now is not None and [each["code"] for each in now["diagnostics"]] == list(codes)

        self.client.until(is_so)
        found: list[Json] = self.client.diagnostics[uri]["diagnostics"]
        return found


@pytest.fixture
def notebook(client: Client) -> Iterator[Notebook]:
    made = Notebook(client, "nb.ipynb", [IMPORT, PIPELINE, USE])
    yield made
    client.notify("notebookDocument/didClose", notebookDocument={"uri": made.uri}, cellTextDocuments=[])


def test_cells_are_one_program(notebook: Notebook) -> None:
    (found,) = notebook.found(2, "TFM304")
    assert marked(USE, found) == "prefetch"
    (related,) = found["relatedInformation"]
    assert related["location"]["uri"] == notebook.uris[1]
    assert marked(PIPELINE, related["location"]) == "batch"


def test_a_change_of_one_cell_changes_what_is_found_in_another(notebook: Notebook) -> None:
    assert "18 GiB" in notebook.found(2, "TFM304")[0]["message"]
    notebook.change(1, PIPELINE.replace("batch(32)", "batch(64)"))
    shown = notebook.client.diagnostics
    notebook.client.until(lambda: "36 GiB" in shown[notebook.uris[2]]["diagnostics"][0]["message"])
    notebook.change(2, USE.replace("1000", "2"))
    notebook.found(2)


def test_cells_come_and_go(notebook: Notebook) -> None:
    notebook.found(2, "TFM304")
    notebook.insert(0, "# a comment")
    notebook.found(3, "TFM304")
    gone = notebook.uris[3]
    notebook.remove(3)
    notebook.client.until(lambda: not notebook.client.diagnostics[gone]["diagnostics"])


def test_a_quick_fix_changes_its_cell_and_no_other(notebook: Notebook) -> None:
    (found,) = notebook.found(2, "TFM304")
    client = notebook.client
    offered = client.actions(notebook.uris[2], found["range"])
    assert client.chosen(offered[QUICK]) == {notebook.uris[2]: USE.replace("1000", "tf.data.AUTOTUNE")}
    silenced = client.chosen(offered["Silence TFM304 (oversized-prefetch) here"])
    assert silenced == {notebook.uris[2]: f"{USE}  # tfmemlint: ignore[TFM304]"}
    assert "memory: " in client.hover(notebook.uris[2], found["range"]["start"])


def test_all_repairs_are_those_of_the_command(notebook: Notebook, run: Run, tmp_path: Path) -> None:
    notebook.found(2, "TFM304")
    notebook.insert(3, USE.replace("ds =", "more ="))
    notebook.found(3, "TFM304")
    client = notebook.client
    cells = [
        {"cell_type": "code", "metadata": {}, "source": client.texts[uri], "outputs": [], "execution_count": None}
        for uri in notebook.uris
    ]
    path = tmp_path / "nb.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    run("check", "--isolated", "-n", "--fix", "nb.ipynb")
    expected = ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]
    action = client.actions(notebook.uris[0], only=["notebook.source.fixAll"])["Make all safe repairs of tfmemlint"]
    chosen = client.chosen(action)
    assert [chosen.get(uri, client.texts[uri]) for uri in notebook.uris] == expected
    assert expected != [client.texts[uri] for uri in notebook.uris]


def test_a_cell_that_does_not_parse_leaves_the_others(notebook: Notebook) -> None:
    notebook.found(2, "TFM304")
    notebook.insert(3, "x = (")
    notebook.found(3, "TFM002")
    notebook.found(2, "TFM304")


def test_cells_of_other_kinds_and_languages_are_no_part_of_the_program(client: Client) -> None:
    made = Notebook(client, "mixed.ipynb", ["# Title (", IMPORT, PIPELINE, USE], [1, 2, 2, 2])
    made.found(3, "TFM304")
    made.change(2, "%%bash\nls (")
    made.change(3, "ds = 3")
    made.found(3)


def test_a_training_step_in_a_cell_says_what_it_takes(client: Client) -> None:
    model = "import keras\nm = keras.Sequential([keras.Input((8,)), keras.layers.Dense(2)])\nm.compile('sgd', 'mse')"
    made = Notebook(client, "fit.ipynb", [model, "m.fit(x, y, batch_size=4)"])
    for number, count in ((0, 0), (1, 1)):
        assert len(client.request("textDocument/codeLens", textDocument={"uri": made.uris[number]})) == count


def test_closing_takes_all_marks(notebook: Notebook) -> None:
    notebook.found(2, "TFM304")
    notebook.client.notify("notebookDocument/didClose", notebookDocument={"uri": notebook.uri}, cellTextDocuments=[])
    notebook.found(2)
