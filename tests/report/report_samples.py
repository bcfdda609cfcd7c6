"""A small run with every kind of file, severity and repair, as the renderers get it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tfmemlint.finding import Edit, Elsewhere, Finding, Fix, Related, Safety, Severity, Span
from tfmemlint.lint.engine import FileResult, unreadable
from tfmemlint.report import RuleInfo
from tfmemlint.text.read import read_source

PIPELINE = """\
import tensorflow as tf


def train(files):
\tds = tf.data.TFRecordDataset(files)
\tds = ds.repeat(10).cache()
\treturn ds.prefetch(10_000)
"""

LONG = (
    'import tensorflow as tf\n\n総数 = {"画像": tf.zeros([30, 1000, 1000], tf.float64), '
    + ", ".join(f'"列{number}": {number}' for number in range(20))
    + "}\n"
)

PROSE = """\
# Training

1. Build it:

   ```python
   import tensorflow as tf
   ds = tf.data.Dataset.range(10).repeat().cache()
   ```

Then run it:

```pycon
>>> gpu = tf.config.list_physical_devices("GPU")[0]
>>> tf.config.experimental.set_memory_growth(gpu, True)
>>> print(gpu)
PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')
```
"""

RULES = {
    "TFM305": RuleInfo(
        "TFM305",
        "cache-after-repeat",
        "cache() after repeat() keeps one copy of the data per epoch",
        Severity.WARNING,
        "## What it does\n\nFinds `cache()` behind `repeat()`.\n",
        "https://example.org/rules/TFM305",
    ),
    "TFM302": RuleInfo("TFM302", "large-prefetch", "prefetch() of many batches holds them all", Severity.WARNING),
}


@dataclass
class Text:
    """The program text of a source, with spans found by what they hold."""

    source: object

    def span(self, words: str, occurrence: int = 1) -> Span:
        start = -1
        for _ in range(occurrence):
            start = self.source.text.index(words, start + 1)
        return Span(start, start + len(words))


def result(path: str, data: str | bytes, *findings, suppressed: int = 0) -> FileResult:
    """A file with the findings that functions make of its text."""
    source = read_source(data.encode() if isinstance(data, str) else data, path)
    text = Text(source)
    return FileResult(path, source, tuple(make(text) for make in findings), suppressed)


def cache_after_repeat(text: Text) -> Finding:
    repeat = next(words for words in (".repeat(10)", ".repeat()") if words in text.source.text)
    first, second = text.span(repeat), text.span(".cache()")
    fix = Fix(
        "cache before repeating",
        (Edit(first.start, first.end, ".cache()"), Edit(second.start, second.end, repeat)),
        Safety.SAFE,
    )
    return Finding(
        "TFM305",
        "cache-after-repeat",
        Severity.WARNING,
        "cache() after repeat() keeps one copy of the data per epoch",
        Span(second.start + 1, second.start + 6),
        bytes=197_132_288,
        related=(Related(Span(first.start + 1, first.start + 7), "the data is repeated here"),),
        fix=fix,
    )


def large_prefetch(text: Text) -> Finding:
    argument = text.span("10_000")
    name = text.span("prefetch")
    fix = Fix("let the runtime choose", (Edit(argument.start, argument.end, "tf.data.AUTOTUNE"),), Safety.UNSAFE)
    return Finding("TFM302", "large-prefetch", Severity.WARNING, "10 000 batches wait in memory", name, fix=fix)


def read_elsewhere(text: Text) -> Finding:
    """One whose cause stands in another file."""
    place = Elsewhere("/proj/src/größe, data.py", 4, 5, 4, 11)
    return Finding(
        "TFM303",
        "unbounded-shuffle",
        Severity.WARNING,
        "the buffer holds all files",
        text.span("prefetch"),
        related=(Related(text.span("prefetch"), "where\nthey are read", place),),
    )


def advice(text: Text) -> Finding:
    at = text.span("import tensorflow").start
    fix = Fix("set a seed", (Edit(at, at, "import os\n"),), Safety.DISPLAY)
    span = Span(at, at + 6)
    return Finding("TFM208", "created-then-cast", Severity.INFO, "100 % of it, once", span, bytes=512, fix=fix)


def float64(text: Text) -> Finding:
    return Finding(
        "TFM201",
        "float64-tensor",
        Severity.WARNING,
        "a float64 tensor takes twice the memory of float32",
        text.span("zeros"),
        bytes=240_000_000,
        fix=Fix("make it float32", (Edit(*_pair(text.span("64")), "32"),), Safety.UNSAFE),
    )


def _pair(span: Span) -> tuple[int, int]:
    return span.start, span.end


def growth_too_late(text: Text) -> Finding:
    """Moves the second cell's or block's line above the first use."""
    call = text.source.text.index("tf.config.experimental")
    end = text.source.text.index("\n", call) + 1
    first = text.source.text.index("ds = ")
    line = text.source.text[call:end]
    return Finding(
        "TFM101",
        "device-config-after-init",
        Severity.ERROR,
        "memory growth is set after the runtime was initialised, which raises",
        text.span("set_memory_growth"),
        related=(Related(text.span("range"), "the runtime starts here"),),
        fix=Fix("set it first", (Edit(first, first, line), Edit(call, end, "")), Safety.UNSAFE),
    )


def notebook(indent: int | None = 1) -> str:
    cells = [
        ["# Title\n"],
        ["import tensorflow as tf\n", "%matplotlib inline\n", "ds = tf.data.Dataset.range(10).repeat().cache()"],
        ["\n"],
        ["# später\n", "tf.config.experimental.set_memory_growth(gpu, True)\n", 'print("done")'],
    ]
    kinds = ["markdown", "code", "markdown", "code"]
    made = [
        {"cell_type": kind, "metadata": {}, "source": lines}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for kind, lines in zip(kinds, cells, strict=True)
    ]
    document = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(document, indent=indent, ensure_ascii=False)


def sample_run() -> list[FileResult]:
    return [
        result("/proj/src/train.py", PIPELINE, cache_after_repeat, large_prefetch, advice, suppressed=2),
        result("/proj/src/run.py", PIPELINE, read_elsewhere),
        result("/proj/src/dos, old.py", PIPELINE.replace("\n", "\r\n"), cache_after_repeat),
        result("/proj/long.py", LONG, float64),
        result("/proj/demo.ipynb", notebook(), cache_after_repeat, growth_too_late),
        result("/proj/docs/guide.md", PROSE, cache_after_repeat, growth_too_late),
        unreadable("/elsewhere/latin.py", "byte 0xff cannot be decoded as utf-8; save the file as UTF-8", 3, 7),
        FileResult("/proj/clean.py", read_source(b"import keras\n", "/proj/clean.py")),
        FileResult("/proj/setup.py", skipped=True),
    ]
