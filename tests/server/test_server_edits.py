"""Thousands of edits at random, as no user would make them: the server stays, and finds what is in the text then.

`make edits` makes all 2 000; each day's tests make another eighth of them.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from daily import share
from rpc import PREFETCH, Client, Json, applied, units, whole

from tfmemlint.config.settings import Config
from tfmemlint.lint.linter import Linter
from tfmemlint.project.projects import Projects
from tfmemlint.report.places import place
from tfmemlint.server.documents import encoded

DAYS = 8
SEEDS = range(40)
EDITS = 50
"""Edits for each seed; 2 000 in all."""
EACH = 2
"""After so many edits the server is asked what it finds."""

START = PREFETCH.format(before="x = '😀'; ") + '''

class Model(tf.keras.Model):
    def call(self, inputs):
        return [tf.matmul(each, each) for each in inputs]


@tf.function
def step(model, batch, losses=[]):
    with tf.GradientTape(persistent=True) as tape:
        loss = model(batch)
    losses.append(loss)
    return tape.gradient(loss, model.trainable_variables)


for epoch in range(10):
    for batch in ds.repeat().cache():
        step(Model(), batch)
'''
PIECES = (
    "(", ")", "[", "]", "{", "}", "'", '"', '"""', "#", "\\", "\n", "\r\n", "\r", "\t", "    ", "\x0c", "\u2028", "\0",
    "😀", "é", "\ud83d", "\ufeff", ":", "=", ",", ".", "*", "@", "%%time\n", "!ls\n", ">>> ", "# coding: latin-1\n",
    "# coding: utf-16\n", "# tfmemlint: ignore[TFM304]", "# tfmemlint: disable", "# noqa", "lambda: ", "if x:\n",
    "else:\n", "def f(", "class A:\n", "import tensorflow as tf\n", "from . import data\n", "ds = ds.cache()\n",
    "ds.prefetch(1000)", "model.fit(ds)\n", "tf.constant(0)", "while True:\n    ", "try:\n", "async ", "await ", "f'{",
    "match x:\n    case ", "x" * 300, "(" * 150, "-" * 500, "9" * 400,
)  # fmt: skip

HARMLESS = ("# 😀\n", "    # é\r\n", "\n", "\r", "\x0c\n", "# tfmemlint: ignore[TFM304]\n", "# \u2028\n")
"""Lines after which a program still is one."""
APPENDED = ("ds = ds.cache()\n", "y = '😀'; z = ds.prefetch(500)\n", "import os\n", "ds = ds.repeat().cache()\n")


def edit(random_: random.Random, text: str) -> Json:
    """A change somewhere in a text: something new, something gone, or something that is elsewhere too."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    def place() -> Json:
        line = random_.randrange(len(lines))
        columns = [len(units(lines[line][:column])) // 2 for column in range(len(lines[line]) + 1)]
        return {"line": line, "character": random_.choice(columns)}

    if random_.random() < 0.5:
        line = random_.randrange(len(lines))
        at = {"line": line, "character": 0}
        if random_.random() < 0.3 and not lines[-1]:
            at, new = {"line": len(lines) - 1, "character": 0}, random_.choice(APPENDED)
        else:
            new = random_.choice(HARMLESS)
        return {"range": {"start": at, "end": at}, "text": new}
    start = place()
    end = start if random_.random() < 0.5 else min(place(), place(), key=lambda at: abs(at["line"] - start["line"]))
    start, end = sorted((start, end), key=lambda at: (at["line"], at["character"]))
    if end["line"] - start["line"] > 3:
        end = start
    kind = random_.random()
    new = random_.choice(PIECES) if kind < 0.6 else "" if kind < 0.8 else random_.choice(lines) + "\n"
    return {"range": {"start": start, "end": end}, "text": new}


def expected(path: Path, text: str) -> list[tuple[str, int]]:
    """The codes and rows of what the linter finds in a text."""
    result = Linter(Config(), projects=Projects()).lint(encoded(text), str(path))
    return sorted((each.code, place(result, each.span).row) for each in result.findings)


@pytest.mark.parametrize("seed", share(SEEDS, DAYS))
def test_any_edits_are_survived(client: Client, seed: int) -> None:
    random_ = random.Random(seed)
    uri = client.uri("train.py")
    client.open("train.py", START)
    for _ in range(EDITS // EACH):
        if random_.random() < 0.5:  # begun anew, so that not all is broken for good
            client.edit("train.py", [{"range": whole(client.texts[uri]), "text": START}])
        for _ in range(EACH):
            changes = [edit(random_, client.texts[uri])]
            if random_.random() < 0.2:
                changes.append(edit(random_, applied(client.texts[uri], [(changes[0]["range"], changes[0]["text"])])))
            client.edit("train.py", changes)
        where = whole(client.texts[uri])
        actions = client.actions(uri, {"start": where["start"], "end": where["end"]})
        for action in random_.sample(sorted(actions), min(1, len(actions))):
            if "data" in actions[action]:
                client.chosen(actions[action])
        client.hover(uri, where["end"])
        found = client.published("train.py")
        text = client.texts[uri]
        shown = [(each["code"], each["range"]["start"]["line"] + 1) for each in found]
        linted = expected(client.root / "train.py", text)
        missing = [each for each in linted if each not in shown]
        assert not missing, json.dumps(text)
        if not any(code in ("TFM000", "TFM001", "TFM002") for code, _ in linted):  # else older findings are kept
            assert sorted(shown) == linted, json.dumps(text)
    assert not [each for each in client.told("window/showMessage") if "rror" in each["message"]]
