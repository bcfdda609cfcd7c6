"""Notebooks: cells as one program, magics out of the way, and repairs that change only the lines they are about."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import libcst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.cli.commands import main
from tfmemlint.finding import Edit
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Position, RewriteError, Source, SourceError

Json = dict[str, Any]


def code(source: str | list[str], **more: Any) -> Json:
    lines = source.splitlines(keepends=True) if isinstance(source, str) else source
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": lines, **more}


def prose(source: str) -> Json:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def notebook(*cells: Json, **metadata: Any) -> Json:
    known = {"language_info": {"name": "python"}} | metadata
    return {"cells": list(cells), "metadata": known, "nbformat": 4, "nbformat_minor": 5}


def source_of(*cells: Json | str, **metadata: Any) -> Source:
    made = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    return read_source(json.dumps(notebook(*made, **metadata), indent=1).encode(), "train.ipynb")


def replace(source: Source, old: str, new: str) -> bytes:
    start = source.text.index(old)
    return source.rewrite([Edit(start, start + len(old), new)])


def sources(data: bytes) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


def test_code_cells_are_one_program_in_order() -> None:
    source = source_of(prose("# Title"), "import os", code(""), "x = 1\nif x:\n    y = 2")
    assert source.kind == "notebook"
    assert source.text == "import os\n\nx = 1\nif x:\n    y = 2\n"
    assert [(block.cell, source.text[block.span.start : block.span.end]) for block in source.blocks] == [
        (2, "import os\n"),
        (4, "x = 1\nif x:\n    y = 2\n"),
    ]


def test_places_are_those_of_the_cell_counted_over_all_cells() -> None:
    source = source_of(prose("# Title"), "import os", "x = 1\n  # é🎉\ny = '\U0001f389'; z = 3")
    offset = source.text.index("z")
    assert source.position(offset) == Position(3, 10, 3)
    assert source.offset(3, 10, 3) == offset
    assert source.line_text(2, 3) == "  # é🎉"
    assert source.position(len(source.text)) == Position(3, 15, 3)
    assert source.offset(9, 9, 3) == source.offset(1, 1, 99) == len(source.text)


def test_the_place_in_the_json_is_known_too() -> None:
    source = source_of(prose("# Title"), "s = 'é'; x = 1\ny = 2")
    json_lines = source.data.decode().split("\n")
    for name in ("x", "y"):
        place = source.file_position(source.text.index(name))
        assert json_lines[place.row - 1][place.column - 1 :].startswith(name)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!pip install \\\n  tensorflow\nx = 1", "pass\n\nx = 1"),
        ("if x:\n    !ls {x}\n    %cd ..", "if x:\n    pass\n    pass"),
        ("?len\nlen?\ntf.data??\n%time?", "pass\npass\npass\npass"),
        ("files = !ls\nt = %timeit -o f()", "files = get_ipython()\nt = get_ipython()"),
        ("a, b = %sql select 1\nd['k'] = !ls", "a, b = get_ipython()\nd['k'] = get_ipython()"),
        ("%time x = f(1)\n%timeit -n 10 -r 3 g(x)", "x = f(1)\ng(x)"),
        ("r = %time f(1)", "r = f(1)"),
        ("%time\n%time f(\n%time -x f()", "pass\npass\npass"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%capture out\n%%time\nx = 1", "\n\n\nx = 1"),
        ("x = (1\n% 2)\ns = '''\n!ls\n%cd\n'''\ny = 1 \\\n% 3", None),
        ("s = 'it\\'s' # (\n!ls", "s = 'it\\'s' # (\npass"),
        ("pip install tensorflow\nx = pip in y", "pass\nx = pip in y"),
        ("cd data\n;f a\n/f a", "pass\npass\npass"),
        ("ls -la ../data\nls $DIR\nmkdir -p out", "pass\npass\npass"),
        ("cat = ls - 1\nrun[0] = cat\ncp = (\n1)", None),
        ("%%timeit -n 3\nx = 1", "\nx = 1"),
        ("  x = 1\n  if x:\n    y = 2", "x = 1\nif x:\n  y = 2"),
        (">>> if x:\n...     y = 1\n>>> z", "if x:\n    y = 1\nz"),
        ("x = 1\f\n\f\ny = '\\ud800'", None),
        ("await f()\nx = [i async for i in g()]", None),
        ("print(x?)", None),
    ],
)
def test_what_only_ipython_understands_is_masked(cell: str, text: str | None) -> None:
    source = source_of(cell)
    assert source.text == f"{cell if text is None else text}\n".replace("\f\n\f", " \n")
    if "x?" not in cell:
        libcst.parse_module(source.text)


@pytest.mark.parametrize(
    "magic",
    ["%%bash", "%%html", "%%file a.txt", "%%javascript", "%%sh", "%%script x", "%%", "%%sql", "%bash", "%bq query"],
)
def test_cells_of_other_languages_are_skipped(magic: str) -> None:
    assert source_of("a = 1", f"{magic}\nx = 1", "b = 2").text == "a = 1\n\nb = 2\n"


def test_half_of_a_surrogate_pair_does_not_reach_the_parser() -> None:
    assert source_of("s = '\ud800'").text == "s = ' '\n"


@pytest.mark.parametrize(
    "metadata",
    [
        {"language_info": {"name": "R"}},
        {"language_info": {}, "kernelspec": {"name": "julia-1.6", "language": "julia"}},
    ],
)
def test_notebooks_of_other_kernels_have_no_text(metadata: Json) -> None:
    source = source_of("x = 1", **metadata)
    assert (source.text, source.blocks, source.position(0)) == ("", (), Position(1, 1))
    assert source.rewrite([]) == source.data
    with pytest.raises(RewriteError, match="no code"):
        source.rewrite([Edit(0, 0, "x\n")])


def test_cells_that_an_editor_marks_as_another_language_are_skipped() -> None:
    assert source_of("a = 1", code("select 1", metadata={"vscode": {"languageId": "sql"}})).text == "a = 1\n"


def test_notebooks_of_format_three_are_read() -> None:
    cells = [{"cell_type": "heading", "source": "T"}, {"cell_type": "code", "language": "python", "input": ["x = 1"]}]
    data = json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"metadata": {}}, {"cells": cells}]}).encode()
    source = read_source(data, "old.ipynb")
    assert (source.text, source.position(4)) == ("x = 1\n", Position(1, 5, 2))
    assert replace(source, "1", "2") == data.replace(b"x = 1", b"x = 2")


@pytest.mark.parametrize(
    ("text", "message", "row", "column"),
    [
        ("", "not valid JSON", 1, 1),
        ('{"cells": [\n<<<<<<< HEAD\n]}', "not valid JSON: Expecting value", 2, 1),
        ("[]", "not a Jupyter notebook: it has no list of cells", 1, 1),
        ('{"cells": {}}', "not a Jupyter notebook: it has no list of cells", 1, 1),
        ('{"worksheets": [\n 3]}', "not a Jupyter notebook: it has no list of cells", 2, 2),
        ('{"cells": [\n {"cell_type": "code"}]}', "cell 1 has no type or no source", 2, 2),
        (
            '{"cells": [{"cell_type": "raw"},\n\n {"cell_type": "code", "source": [1]}]}',
            "cell 2 has no type or no",
            3,
            2,
        ),
        ('{"cells": [4]}', "cell 1 has no type or no source", 1, 12),
        ("[" * 200_000, "nested too deeply", 1, 1),
    ],
)
def test_what_is_no_notebook_says_why_and_where(text: str, message: str, row: int, column: int) -> None:
    with pytest.raises(SourceError, match=re.escape(message)) as error:
        read_source(text.encode(), "train.ipynb")
    assert (error.value.row, error.value.column) == (row, column)


def _colab(made: Json) -> str:
    cells = [{"cell_type": c["cell_type"], "source": c["source"], "metadata": {"id": "x"}} for c in made["cells"]]
    return json.dumps({"nbformat": 4, "metadata": made["metadata"], "cells": cells}, indent=2, ensure_ascii=False)


def _strings(made: Json) -> str:
    for cell in made["cells"]:
        cell["source"] = "".join(cell["source"])
    return json.dumps(made, indent=1)


LAYOUTS: dict[str, Callable[[Json], str]] = {
    "nbformat": lambda made: json.dumps(made, indent=1, ensure_ascii=False) + "\n",
    "colab": _colab,
    "tabs": lambda made: json.dumps(made, indent="\t", ensure_ascii=False),
    "ascii": lambda made: json.dumps(made, indent=1),
    "crlf": lambda made: json.dumps(made, indent=1).replace("\n", "\r\n") + "\r\n",
    "marked": lambda made: "\ufeff" + json.dumps(made, indent=4),
    "odd": lambda made: json.dumps(made, indent=1).replace('",\n', '"  ,\n\n').replace('": ', '" : '),
    "minified": lambda made: json.dumps(made, separators=(",", ":")),
    "strings": _strings,
}
ONE_LINE_A_STRING = sorted(set(LAYOUTS) - {"minified", "strings"})

CELLS = (
    prose("# Pipeline “é”"),
    code("import tensorflow as tf\n%matplotlib inline", outputs=[{"data": {"image/png": "aGk=\n"}, "text": ["1\n"]}]),
    code("ds = tf.data.Dataset.range(9)  # é🎉\nds = ds.repeat().cache()\nprint('\\n<b>', \"\\u2028\")"),
    code("model.fit(ds)"),
)


def changed_lines(before: bytes, after: bytes) -> list[str]:
    """Removed and added lines, as a version control system would show them."""
    lines = difflib.unified_diff(before.decode().split("\n"), after.decode().split("\n"), lineterm="", n=0)
    return [line for line in lines if line[0] in "+-"][2:]


def laid_out(layout: str) -> Source:
    made = json.loads(json.dumps(notebook(*CELLS)))
    return read_source(LAYOUTS[layout](made).encode(), "train.ipynb")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_edit_changes_no_byte(layout: str) -> None:
    source = laid_out(layout)
    assert source.rewrite([]) == source.data


@pytest.mark.parametrize("layout", ONE_LINE_A_STRING)
def test_a_repair_in_a_line_changes_that_line_of_the_file(layout: str) -> None:
    source = laid_out(layout)
    new = replace(source, "repeat().cache()", "cache().repeat()")
    removed, added = changed_lines(source.data, new)
    assert removed[1:].replace("repeat().cache()", "cache().repeat()") == added[1:]


@pytest.mark.parametrize("layout", ONE_LINE_A_STRING)
def test_an_added_line_is_one_added_line_of_the_file(layout: str) -> None:
    source = laid_out(layout)
    new = replace(source, "ds = ds.repeat()", "ds = ds.take(1)\nds = ds.repeat()")
    (added,) = (line for line in changed_lines(source.data, new) if line.strip("+-\r"))
    assert added.lstrip("+ \t").startswith('"ds = ds.take(1)\\n"')
    assert sources(new)[2] == "".join(CELLS[2]["source"]).replace("ds = ds.r", "ds = ds.take(1)\nds = ds.r")


@pytest.mark.parametrize("layout", ONE_LINE_A_STRING)
def test_a_deleted_line_is_one_deleted_line_of_the_file(layout: str) -> None:
    source = laid_out(layout)
    new = replace(source, "ds = ds.repeat().cache()\n", "")
    (removed,) = (line for line in changed_lines(source.data, new) if line.strip("+-\r"))
    assert removed.lstrip("- \t").startswith('"ds = ds.repeat().cache()\\n"')


@pytest.mark.parametrize("layout", ["minified", "strings"])
def test_other_layouts_change_only_the_string_that_holds_the_line(layout: str) -> None:
    source = laid_out(layout)
    new = replace(source, "ds = ds.repeat().cache()", "ds = ds.cache()\nds = ds.repeat()")
    old_text, new_text = source.data.decode(), new.decode()
    between = '\\n","' if layout == "minified" else "\\n"
    assert new_text == old_text.replace("ds = ds.repeat().cache()", f"ds = ds.cache(){between}ds = ds.repeat()")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("old", "new", "cell", "expected"),
    [
        ("model.fit(ds)\n", "model.fit(ds)\ndel ds\n", 3, "model.fit(ds)\ndel ds"),
        ("model.fit(ds)\n", "import gc\nmodel.fit(ds)\n", 3, "import gc\nmodel.fit(ds)"),
        ("model.fit(ds)\n", "", 3, ""),
        ("model.fit(ds)", "# 'é' \\ \"🎉\"", 3, "# 'é' \\ \"🎉\""),
        ("import tensorflow as tf\n", "", 1, "%matplotlib inline"),
    ],
)
def test_cells_hold_what_was_asked_for(layout: str, old: str, new: str, cell: int, expected: str) -> None:
    source = laid_out(layout)
    before, after = (
        json.loads(source.data.decode("utf-8-sig")),
        json.loads(replace(source, old, new).decode("utf-8-sig")),
    )
    assert "".join(after["cells"][cell]["source"]) == expected
    after["cells"][cell]["source"] = before["cells"][cell]["source"]
    assert after == before


def test_a_line_added_behind_the_last_one_stays_in_its_cell() -> None:
    source = source_of("a = 1", "b = 2")
    end = source.blocks[0].span.end
    assert sources(source.rewrite([Edit(end, end, "del a\n")])) == ["a = 1\ndel a", "b = 2"]
    start = source.blocks[1].span.start
    assert sources(source.rewrite([Edit(start, start, "c = 3\n")])) == ["a = 1", "c = 3\nb = 2"]
    behind = len(source.text)
    assert sources(source.rewrite([Edit(behind, behind, "c = 3\n")])) == ["a = 1", "b = 2\nc = 3"]


def test_several_edits_in_several_cells() -> None:
    source = source_of("a = 1\nb = 2", "%time c = 3\n!ls")
    places = {name: source.text.index(name) for name in "abc"}
    new = source.rewrite(
        [
            Edit(places["a"], places["a"] + 1, "x"),
            Edit(places["b"] + 4, places["b"] + 5, "5\nb = 6"),
            Edit(places["c"], places["c"], "y = "),
            Edit(places["c"] + 5, places["c"] + 5, "\nd = 4"),
        ]
    )
    assert sources(new) == ["x = 1\nb = 5\nb = 6", "%time y = c = 3\nd = 4\n!ls"]


def test_new_lines_take_the_indentation_that_the_cell_has() -> None:
    assert sources(replace(source_of("  a = 1\n  b = 2"), "a = 1\n", "a = 1\nc = 3\n")) == ["  a = 1\n  c = 3\n  b = 2"]
    assert sources(replace(source_of(">>> if a:\n...     b"), "b\n", "b\n    c\nd\n")) == [
        ">>> if a:\n...     b\n...     c\n>>> d"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pass", "x"),
        ("x = 1\npass\n", ""),
        ("get_ipython()", "None"),
        ("pass\ny", "y"),
        ("1\n\n", "2\n\n"),
        ("c = 3\n", ""),
    ],
)
def test_magics_and_cell_ends_are_never_edited(old: str, new: str) -> None:
    source = source_of("x = 1\n!ls\ny = %sql x\nz = 1", "%time c = 3")
    with pytest.raises(RewriteError, match=r"magic command|end of a cell|other lines"):
        replace(source, old, new)


def test_code_added_where_it_would_become_part_of_a_magic_is_refused() -> None:
    source = source_of("%%time\nx = 1")
    with pytest.raises(RewriteError, match="other lines"):
        source.rewrite([Edit(0, 0, "import os\n")])


LINES = st.sampled_from(
    [
        "",
        "x = 1",
        "    y",
        "%time z = f(x)",
        "!ls",
        "s = 'é\\n🎉\u2028'",
        "# <b> \\u003c",
        "\tw",
        "q = !ls",
        "\f",
        "k\f",
        "(",
        "'''",
    ]
)
CELL = st.lists(LINES, max_size=5).map("\n".join)
CONTENT = st.text('ab \né"\\', max_size=6)
CUTS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5), CONTENT), min_size=1, max_size=4)


@given(st.lists(CELL, max_size=4))
def test_every_offset_has_a_place_and_back(cells: list[str]) -> None:
    source = source_of(*cells)
    for offset in range(len(source.text) + 1):
        place = source.position(offset)
        assert source.position(source.offset(place.row, place.column, place.cell)) == place
        if place.cell is not None:
            line = cells[place.cell - 1].split("\n")[place.row - 1]
            assert source.line_text(place.row, place.cell) == line
            assert 1 <= place.column <= len(line) + 1


@given(st.lists(CELL, max_size=4), CUTS, st.sampled_from(sorted(LAYOUTS)))
def test_rewritten_notebooks_read_as_the_edited_text(
    cells: list[str], cuts: list[tuple[int, int, str]], layout: str
) -> None:
    made = notebook(*[code(cell) for cell in cells])
    data = LAYOUTS[layout](json.loads(json.dumps(made))).encode()
    source = read_source(data, "train.ipynb")
    edits: list[Edit] = []
    for gap, length, content in cuts:
        start = (edits[-1].end if edits else 0) + gap
        if start + length <= len(source.text):
            edits.append(Edit(start, start + length, content))
    edits = [edit for index, edit in enumerate(edits) if index == 0 or edit.start > edits[index - 1].end]
    try:
        new = source.rewrite(edits)
    except RewriteError:
        return
    assert read_source(new, "train.ipynb").text == source.edited_text(edits)
    touched = {source.position(edit.start).cell for edit in edits}
    before, after = (json.loads(text.decode("utf-8-sig")) for text in (data, new))
    for number, (old_cell, new_cell) in enumerate(zip(before["cells"], after["cells"], strict=True), start=1):
        if number in touched:
            new_cell["source"] = old_cell["source"]
        assert new_cell == old_cell


@given(st.lists(st.text('ab <é🎉\u2028"\\\t', max_size=8), min_size=1, max_size=6), st.data())
def test_plain_cells_take_every_edit(lines: list[str], data: st.DataObject) -> None:
    cell = "# é\n" + "\n".join(f"# {line}" for line in lines)
    source = source_of("a = 1", cell, "b = 2")
    span = source.blocks[1].span
    start = data.draw(st.integers(span.start, span.end - 1))
    end = data.draw(st.integers(start, span.end - 1))
    content = data.draw(CONTENT.map(lambda text: text.replace("\n", "\n# ")))
    text = source.text[span.start : start] + content + source.text[end : span.end - 1]
    if "?" in text or not text.startswith("#"):
        return
    new = source.rewrite([Edit(start, end, content)])
    assert sources(new) == ["a = 1", text, "b = 2"]


# --- through the command line


WASTE = "ds = tf.data.Dataset.range(9).repeat().cache()"
REPAIRED = "ds = tf.data.Dataset.range(9).cache().repeat()"


def check(path: Path, *words: str, select: str = "TFM305") -> int:
    command = ["check", "--isolated", "--no-cache", f"--select={select}", "--output-format=concise", path.name]
    return main([*command, *words])


def written(folder: Path, *cells: Json | str, layout: str = "nbformat", **metadata: Any) -> Path:
    """A notebook of these cells as a file."""
    made = notebook(*(code(cell) if isinstance(cell, str) else cell for cell in cells), **metadata)
    path = folder / "nb.ipynb"
    path.write_bytes(LAYOUTS[layout](made).encode())
    return path


def test_a_later_cell_is_judged_by_earlier_ones(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configure = "gpus = tf.config.list_physical_devices('GPU')\nfor gpu in gpus:\n"
    configure += "    tf.config.experimental.set_memory_growth(gpu, True)"
    cells = ["import tensorflow as tf", "x = tf.constant([1.0])", prose("# Training"), "y = 2", "z = 3", "w = 4"]
    path = written(here, *cells, configure)
    assert check(path, select="TFM101") == 1
    assert capsys.readouterr().out.startswith("nb.ipynb:cell 7:3:28: TFM101 constant has initialised the runtime")
    assert check(written(here, cells[0], configure, *cells[1:]), select="TFM101") == 0


def test_the_repair_of_a_later_cell_may_change_an_earlier_one(here: Path) -> None:
    """What the seventh cell configures goes to where the second one starts TensorFlow; the seventh is left empty."""
    growth = "for gpu in tf.config.list_physical_devices('GPU'):\n"
    growth += "    tf.config.experimental.set_memory_growth(gpu, True)"
    cells = ["import tensorflow as tf", "x = tf.constant([1.0])", "y = 2", "z = 3", "w = 4", "v = 5", growth]
    path = written(here, *cells)
    assert check(path, "--fix", "--unsafe-fixes", select="TFM101") == 0
    assert sources(path.read_bytes()) == [cells[0], f"{growth}\n{cells[1]}", *cells[2:6], ""]


def test_places_count_all_cells_and_the_lines_of_the_cell(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(here, prose("# T"), "import tensorflow as tf", f"%matplotlib inline\n\n# é\nif tf:\n    {WASTE}")
    assert check(path) == 1
    assert capsys.readouterr().out.startswith("nb.ipynb:cell 3:5:44: TFM305 ")


def test_magics_and_cells_of_other_languages_are_no_code(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bash = "%%bash\npython -c 'import tensorflow as tf; tf.data.Dataset.range(9).repeat().cache()'"
    magics = f"%matplotlib inline\n!pip install -q tensorflow\n?tf.data\nfiles = !ls\n%time {WASTE}"
    path = written(here, "import tensorflow as tf", bash, f"%%time\n{WASTE}", f"%%writefile a.py\n{WASTE}", magics)
    assert check(path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["nb.ipynb:cell 3:2:40", "nb.ipynb:cell 5:5:46"]
    assert check(path, "--fix") == 0
    assert sources(path.read_bytes())[1:] == [
        bash, f"%%time\n{REPAIRED}", f"%%writefile a.py\n{WASTE}", magics.replace(WASTE, REPAIRED)
    ]  # fmt: skip


def test_files_that_cells_write_are_programs_of_their_own(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their names are not those of the notebook, in either direction; what is added to a file goes on with it."""
    shadow = "%%writefile other.py\nimport numpy as tf\nx = tf.data.Dataset.range(9).repeat().cache()"
    alone = f"%%writefile pkg/train.py\n{WASTE}"
    whole = f"%%writefile 'my train.py'\nimport tensorflow as tf\n{WASTE}"
    added = f"%%writefile -a 'my train.py'\n{WASTE}"
    path = written(here, "import tensorflow as tf", shadow, alone, whole, "print(1)", added, WASTE)
    assert check(path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in lines] == [f"nb.ipynb:cell {at}" for at in ("4:3:40", "6:2:40", "7:1:40")]
    assert check(path, "--fix") == 0
    cells = sources(path.read_bytes())
    assert cells[1:3] == [shadow, alone]
    assert cells[3:] == [text.replace(WASTE, REPAIRED) for text in (whole, "print(1)", added, WASTE)]


def test_a_written_file_that_does_not_parse_hides_no_other(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = f"%%writefile a.py\nimport tensorflow as tf\nx = (\n{WASTE}"
    path = written(here, "import tensorflow as tf", broken, WASTE)
    assert check(path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[1:3] for line in lines] == [["2:3:5:", "TFM002"], ["3:1:40:", "TFM305"]]


def test_a_cell_that_does_not_parse_hides_no_other(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(here, "import tensorflow as tf", "x = (", WASTE)
    assert check(path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" ")[1:3] for line in lines] == [["2:1:5:", "TFM002"], ["3:1:40:", "TFM305"]]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_repair_of_one_line_is_a_diff_of_one_line(layout: str, here: Path) -> None:
    """Outputs, metadata, prose and the layout of the file stay byte for byte."""
    cells = [cell for cell in CELLS if cell["cell_type"] != "code" or "repeat" not in "".join(cell["source"])]
    path = written(here, *cells, code(f"{WASTE}\nprint(ds)", outputs=[{"text": [WASTE]}], metadata={"id": WASTE}),
                   layout=layout)  # fmt: skip
    before = path.read_bytes()
    assert check(path, "--fix") == 0
    after = path.read_bytes()
    removed, added = changed_lines(before, after)
    assert removed[1:].replace(WASTE, REPAIRED, 1) == added[1:] or layout == "minified" or layout == "strings"
    place = before.index(WASTE.encode() + b"\\nprint") if layout == "strings" else before.index(WASTE.encode() + b"\\n")
    assert after == before[:place] + REPAIRED.encode() + before[place + len(WASTE) :]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_diffs_of_notebooks_apply(layout: str, here: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = written(here, *CELLS[:2], WASTE, layout=layout)
    before = path.read_bytes()
    assert check(path, "--diff") == 1
    patch = capfdbinary.readouterr().out
    assert path.read_bytes() == before
    assert check(path, "--fix") == 0
    after = path.read_bytes()
    path.write_bytes(before)
    subprocess.run(["git", "apply", "--unsafe-paths", "-p0"], input=patch, check=True, cwd=here)
    assert path.read_bytes() == after
