"""Notebooks and documents put together from parts that occur, and parts that should not."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from ..case import Broken, Case, Kind
from ..checks import repaired
from ..programs import samples, statements

PROSE = "§"
"""Stands in lines that are no code, which nothing may change."""
MAGICS = ("%matplotlib inline\n", "!pip install x\n", "files = !ls\n", "x = %timeit -o f()\n", "tf?\n", "?tf.data\n",
          "%%time\n", "%%bash\necho\n", "%load_ext a\n", "get_ipython()\n", "\f", "# é😀\n", "x = '\\ud800'\n", "\\\n",
          "if True:\n", "for _ in range(3):\n    %time f()\n", "raise\n", "x = (\n", "'''\n", "\t\n", "\u2028",
          "%run a.py\n", "!{cmd}\n", "await f()\n", "return\n", "-- not Python --\n")  # fmt: skip
ODD: tuple[Any, ...] = (None, 5, [], {}, "code", True, "", [5], {"a": []}, -1, 1.5)
FENCES = ("```python\n", "``` python\n", "```py title=x\n", "~~~python\n", "````python\n", "```{python}\n",
          "```{code-cell} ipython3\n", "  ```python\n", "> ```python\n", "- ```python\n", "    ```python\n",
          "\t```python\n", "```\n", "```console\n", "```python:a.py\n", "~~~~ {.python}\n")  # fmt: skip


def make(chance: Random, number: int) -> Case | None:
    """A notebook or a document, with some bytes changed at times."""
    name, text = (_notebook, _markdown)[number % 2](chance)
    if not chance.randrange(4):
        text = text.replace("\n", chance.choice(["\r\n", "\r"]))
    data = text.encode("utf-8", "surrogateescape")
    if not chance.randrange(10):
        data = b"\xef\xbb\xbf" + data
    if not chance.randrange(8):
        place = chance.randrange(len(data) + 1)
        data = data[:place] + chance.choice([b"", b"\xff", b"\0", b"{", b"```\n"]) + data[place + chance.randrange(9) :]
    return Case(name, data)


def _code(chance: Random) -> str:
    parts = list(statements(chance.choice(samples())))
    start = chance.randrange(len(parts))
    parts = parts[start : start + chance.randint(1, 5)]
    if not chance.randrange(3):
        parts.insert(chance.randrange(len(parts) + 1), chance.choice(MAGICS))
    if not chance.randrange(3):
        parts.insert(0, "import tensorflow as tf\n")
    text = "".join(parts)
    return text.rstrip("\n") if chance.randrange(2) else text


def _notebook(chance: Random) -> tuple[str, str]:
    cells = [_cell(chance) for _ in range(chance.randint(0, 6))]
    document: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    if not chance.randrange(6):
        document[chance.choice(["cells", "metadata", "nbformat", "nbformat_minor", "worksheets"])] = chance.choice(ODD)
    if not chance.randrange(8):
        language = chance.choice([*ODD, "python", "julia"])
        document["metadata"] = {"kernelspec": {"language": language}, "language_info": chance.choice(ODD)}
    if not chance.randrange(10):
        document = {"worksheets": [{"cells": cells}], "nbformat": 3}
    indent = chance.choice([None, 1, 2, "\t"])
    text = json.dumps(document, indent=indent, ensure_ascii=bool(chance.randrange(2)))
    return "documents.ipynb", text + "\n" * chance.randrange(3)


def _cell(chance: Random) -> Any:
    kind = chance.choice(["code", "code", "code", "markdown", "raw"])
    text = _code(chance) if kind == "code" else f"{PROSE} tf.data\n"
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text}
    if chance.randrange(3):
        cell["source"] = text.splitlines(keepends=True)
    if kind == "code":
        cell |= {"execution_count": None, "outputs": [{"output_type": "stream", "text": [f"{PROSE} tf\n"]}]}
    if not chance.randrange(10):
        cell[chance.choice(["source", "cell_type", "metadata", "outputs"])] = chance.choice(ODD)
    if not chance.randrange(12):
        del cell[chance.choice(list(cell))]
    return cell if chance.randrange(20) else chance.choice(ODD)


def _markdown(chance: Random) -> tuple[str, str]:
    name = chance.choice(["documents.md", "documents.md", "documents.qmd", "documents.rst"])
    parts = []
    for index in range(chance.randint(1, 7)):
        parts.append(f"{PROSE} {index} tensorflow `tf.data`\n" * chance.randrange(3))
        parts.append((_directive if name.endswith(".rst") else _fenced)(chance))
    return name, "\n".join(parts)


def _fenced(chance: Random) -> str:
    fence = chance.choice(FENCES)
    lead = fence[: len(fence) - len(fence.lstrip(" \t>-"))].replace("-", " ")
    mark = fence.lstrip(" \t>-")[0]
    closing = lead + mark * fence.count(mark) + "\n" if chance.randrange(8) else ""
    code = _code(chance)
    if not chance.randrange(6):
        code = f"```\n{code}\n```\n{PROSE}\n"
    if not chance.randrange(4):
        lead = chance.choice(["", " ", "\t", lead])
    return fence + "".join(lead + line for line in (code + "\n").splitlines(keepends=True)) + closing


def _directive(chance: Random) -> str:
    head = chance.choice([".. code-block:: python\n", ".. code:: python\n   :number-lines:\n", f"{PROSE} text::\n",
                          ".. testcode::\n", ".. code-block:: console\n", "   .. code-block:: python\n"])  # fmt: skip
    lead = chance.choice(["   ", "    ", "\t", "      "])
    blank = "\n" * chance.randrange(3)
    return head + blank + "".join(lead + line for line in (_code(chance) + "\n").splitlines(keepends=True))


def check(case: Case) -> None:
    """Repairs are sound, and change nothing outside of code."""
    data = repaired(case.data, case.path)
    if data == case.data:
        return
    if case.name.endswith(".ipynb"):
        before, after = json.loads(case.data.decode("utf-8-sig")), json.loads(data.decode("utf-8-sig"))
        if _without_code(before) != _without_code(after):
            raise Broken("a repair changes more of a notebook than its code")
    elif _prose(case.data) != _prose(data):
        raise Broken("a repair changes text that is no code")


def _prose(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines(keepends=True) if PROSE.encode() in line]


def _without_code(value: Any) -> Any:
    """The notebook with the sources of code cells left out, but for their types."""
    if isinstance(value, list):
        return [_without_code(each) for each in value]
    if not isinstance(value, dict):
        return value
    made = {key: _without_code(each) for key, each in value.items()}
    if value.get("cell_type") == "code" and "source" in value:
        made["source"] = type(value["source"]).__name__
    return made


KIND = Kind("documents", make, check)
