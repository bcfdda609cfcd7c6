"""Documents: which blocks are read, where their lines stand, and repairs in place."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.cli.commands import main
from tfmemlint.finding import Edit
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Position, RewriteError, Source, SourceError

IMPORT = "import tensorflow as tf\n"


def document(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def source_of(text: str, path: str = "guide.md") -> Source:
    return read_source(text.encode(), path)


def fenced(opening: str, body: str = IMPORT) -> str:
    fence = opening[: len(opening) - len(opening.lstrip("`~:"))]
    return f"Text\n\n{opening}\n{body}{fence}\n\nMore text\n"


def replace(source: Source, old: str, new: str) -> str:
    start = source.text.index(old)
    return source.rewrite([Edit(start, start + len(old), new)]).decode()


@pytest.mark.parametrize(
    "opening",
    [
        *("```python", "```py", "``` python", "```Python", "```python3", "~~~python", "~~~~ py", "````python"),
        *("```{code-cell}", "```{code-cell} ipython3", "```{code-cell} python", ":::{code-cell} python"),
        *("```{python}", "```{python, echo=FALSE}", "```{.python}", "```{code-block} python", "```{code} python"),
        *('```python title="train.py" hl_lines="1"', "```python {linenos=true}", "```python,ignore"),
    ],
)
def test_fences_that_name_python_are_read(opening: str) -> None:
    source = source_of(fenced(opening))
    assert (source.kind, source.text) == ("markdown", IMPORT)
    assert source.position(0) == Position(4, 1)


@pytest.mark.parametrize(
    "opening",
    [
        *("```", "```bash", "```pythonic", "```js python", "~~~", "```{code-cell} julia", "```{code-block} r"),
        *("```{r}", "```{note}", "```{code-block}", "```{mermaid}", "```text", "````{tab-item} Python"),
    ],
)
def test_other_fences_are_not(opening: str) -> None:
    source = source_of(fenced(opening))
    assert (source.text, source.blocks) == ("", ())
    assert source.rewrite([]) == source.data


def test_code_without_a_fence_is_prose() -> None:
    assert source_of("Use `import tensorflow`:\n\nimport tensorflow as tf\n\n    import keras\n").text == ""


def test_blocks_before_the_first_import_of_tensorflow_are_not_read() -> None:
    source = source_of(
        fenced("```python", "x = 1\n") + fenced("```python", "from keras import layers\n") + fenced("```py", "y = 2\n")
    )
    assert source.text == "from keras import layers\n\ny = 2\n"
    assert [source.position(block.span.start).row for block in source.blocks] == [11, 18]


def test_an_import_in_a_comment_or_of_another_package_does_not_count() -> None:
    assert source_of(fenced("```python", "# import tensorflow\nimport numpy  # not tensorflow\n")).text == ""


def test_a_fence_inside_a_longer_fence_is_its_text() -> None:
    inner = fenced("```python")
    assert source_of(f"````markdown\n{inner}````\n").text == ""
    assert source_of(f"````python\n{IMPORT}s = '''\n```\n'''\n````\n").text == f"{IMPORT}s = '''\n```\n'''\n"


def test_a_fence_that_is_never_closed_goes_to_the_end() -> None:
    assert source_of(f"```python\n{IMPORT}x = 1").text == f"{IMPORT}x = 1\n"


LIST = document(
    """
    - Step one:

      ```python
      import tensorflow as tf

      if tf:
          x = 1
      ```

    > ~~~py
    > y = 2
    >
    > z = 3
    > ~~~
    """
)


def test_blocks_in_lists_and_quotes_lose_their_indentation() -> None:
    source = source_of(LIST)
    assert source.text == "import tensorflow as tf\n\nif tf:\n    x = 1\n\ny = 2\n\nz = 3\n"
    assert source.position(source.text.index("x")) == Position(7, 7)
    assert source.position(source.text.index("z")) == Position(13, 3)
    assert source.offset(7, 7) == source.text.index("x")
    assert source.line_text(7) == "      x = 1"
    assert source.line_text(1) == "- Step one:"


def test_repairs_give_it_back() -> None:
    source = source_of(LIST)
    assert replace(source, "x = 1", "x = 1\n\n    w = 5") == LIST.replace("x = 1\n", "x = 1\n\n      w = 5\n")
    assert replace(source, "z = 3\n", "z = 3\n\nw = 5\n") == LIST.replace("> z = 3\n", "> z = 3\n>\n> w = 5\n")
    assert replace(source, "y = 2\n", "") == LIST.replace("> y = 2\n", "")
    assert replace(source, "import tensorflow as tf\n", "import os\nimport tensorflow as tf\n") == LIST.replace(
        "  import", "  import os\n  import"
    )


def test_a_block_may_lose_its_last_line_or_all_lines() -> None:
    text = fenced("```python") + fenced("```python", "x = 1\n")
    assert replace(source_of(text), "x = 1\n", "") == text.replace("x = 1\n", "")
    two = fenced("```python", f"{IMPORT}x = 1\n")
    assert replace(source_of(two), "x = 1\n", "") == two.replace("x = 1\n", "")


def test_line_ends_marks_and_missing_final_line_ends_are_kept() -> None:
    text = "\ufeff" + fenced("```python").replace("\n", "\r\n") + "```py\r\nx = 1"
    source = source_of(text)
    assert replace(source, IMPORT, f"{IMPORT}y = 2\n") == text.replace("as tf\r\n", "as tf\r\ny = 2\r\n")
    assert replace(source, "x = 1\n", "x = 1\ny = 2\n") == text + "\r\ny = 2"


@pytest.mark.parametrize("options", [":tags: [hide-input]\n:name: x\n", "---\ntags: [hide]\n---\n", "#| echo: false\n"])
def test_options_of_a_directive_are_no_code(options: str) -> None:
    source = source_of(fenced("```{code-cell} python", options + IMPORT))
    assert source.text.removeprefix("#| echo: false\n") == IMPORT
    assert source.position(source.text.index("import")).row == 4 + options.count("\n")


def test_magics_are_masked_and_cells_of_other_languages_skipped() -> None:
    source = source_of(
        fenced("```{code-cell}", f"%matplotlib inline\n{IMPORT}") + fenced("```{code-cell}", "%%bash\nls\n")
    )
    assert source.text == f"pass\n{IMPORT}"


DOCTEST = document(
    """
    ```pycon
    >>> import tensorflow as tf
    >>> if tf:
    ...     x = 1
    ...
    >>> print(x)
    1
    ```
    """
)


def test_doctests_lose_prompts_and_outputs() -> None:
    source = source_of(DOCTEST)
    assert source.text == "import tensorflow as tf\nif tf:\n    x = 1\n\nprint(x)\n\n"
    assert source.position(source.text.index("x = 1")) == Position(4, 9)
    assert source_of(DOCTEST.replace("pycon", "python")).text == source.text


def test_a_session_needs_no_language() -> None:
    text = DOCTEST.replace("pycon", "")
    assert source_of(text).text == source_of(DOCTEST).text
    quoted = "".join(f"> {line}" for line in text.splitlines(keepends=True))
    assert source_of(quoted).text == source_of(DOCTEST).text
    assert source_of(text.replace("```\n", "```bash\n", 1)).text == ""


def test_repairs_of_doctests_write_prompts() -> None:
    source = source_of(DOCTEST)
    assert replace(source, "print(x)", "print(x)\ndel x") == DOCTEST.replace("print(x)\n", "print(x)\n>>> del x\n")
    assert replace(source, "x = 1", "x = 1\n    y = 2") == DOCTEST.replace("x = 1\n", "x = 1\n...     y = 2\n")
    assert replace(source, "if tf", "y = 2\nif tf") == DOCTEST.replace(">>> if", ">>> y = 2\n>>> if")
    behind = len(source.text)
    assert source.rewrite([Edit(behind, behind, "del x\n")]).decode() == DOCTEST.replace("1\n```", "1\n>>> del x\n```")


def test_outputs_of_doctests_are_never_edited() -> None:
    source = source_of(DOCTEST.replace("1\n```", "1\n>>> y\n```"))
    with pytest.raises(RewriteError, match="magic command or an output"):
        replace(source, "print(x)\n\ny", "y")


RST = document(
    """
    Guide
    =====

    .. code-block:: python
       :linenos:

       import tensorflow as tf
       if tf:
           x = 1

    Text::

        y = 0

    >>> y = 2
    >>> y
    2

    .. note::

       .. code:: python

          z = 3
       .. code-block:: bash

          ls
    """
)


def test_restructured_text_has_directives_and_doctests() -> None:
    source = source_of(RST, "guide.rst")
    assert source.text == "import tensorflow as tf\nif tf:\n    x = 1\n\ny = 2\ny\n\n\nz = 3\n"
    assert [source.position(source.text.index(name)) for name in ("x", "y", "z")] == [
        Position(9, 8),
        Position(15, 5),
        Position(23, 7),
    ]
    assert replace(source_of(">>> import keras", "a.rst"), "keras", "keras\nx") == ">>> import keras\n>>> x"
    assert replace(source, "z = 3", "z = 3\nw = 4") == RST.replace("z = 3\n", "z = 3\n      w = 4\n")


def test_blocks_are_blanked_one_by_one() -> None:
    source = source_of(fenced("```python") + fenced("```python", "$ pip\n") + fenced("```python", "x = 1\n"))
    blank = source.without_blocks({1})
    assert blank.text == f"{IMPORT}\n     \n\nx = 1\n"
    assert blank.position(blank.text.index("x")) == source.position(source.text.index("x")) == Position(18, 1)


def test_a_repair_that_takes_the_block_out_of_the_program_is_refused() -> None:
    with pytest.raises(RewriteError, match="other lines"):
        replace(source_of(fenced("```python", f"{IMPORT}x = 1\n")), "tensorflow", "numpy")


def test_documents_that_are_not_utf8_say_where() -> None:
    with pytest.raises(SourceError, match="byte 0xe9 cannot be decoded as utf-8") as error:
        read_source(b"# T\n\xe9", "guide.md")
    assert (error.value.row, error.value.column) == (2, 1)


ROWS = st.sampled_from(
    [
        "```python",
        "```",
        "~~~",
        "  ```py",
        "> ```py",
        IMPORT.strip(),
        "  x = 1",
        "> y = 2",
        ">>> z",
        "... w",
        "1",
        "",
        "\tq",
        "%time f()",
        "é\f",
    ]
)


@given(
    st.lists(ROWS, max_size=14),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(0, 60),
    st.integers(0, 6),
    st.text("ab \n", max_size=5),
)
def test_rewritten_documents_read_as_the_edited_text(
    rows: list[str], end: str, start: int, length: int, content: str
) -> None:
    text = end.join(["```python", IMPORT.strip(), "```", *rows])
    source = source_of(text)
    for offset in range(len(source.text) + 1):
        place = source.position(offset)
        assert source.position(source.offset(place.row, place.column)) == place
    edit = Edit(min(start, len(source.text)), min(start + length, len(source.text)), content)
    try:
        new = source.rewrite([edit]).decode()
    except RewriteError:
        return
    assert source_of(new).text == source.edited_text([edit])
    old_rows, first, last = text.split(end), source.position(edit.start).row, source.position(edit.end).row
    assert new.split(end)[: first - 1] == old_rows[: first - 1]
    assert new.endswith(end.join(["", *old_rows[last:]]) if last < len(old_rows) else "")


@given(
    st.lists(st.sampled_from(["x = 1", "", "    y", "# é"]), min_size=1, max_size=6),
    st.sampled_from(["", "  ", "> ", "\t"]),
    st.data(),
)
def test_plain_blocks_take_every_whole_line(lines: list[str], prefix: str, data: st.DataObject) -> None:
    def laid_out(rows: list[str]) -> str:
        return "".join(
            f"{(prefix + row) if row else prefix.rstrip()}\n" for row in ["```python", IMPORT.strip(), *rows, "```"]
        )

    source = source_of(laid_out(lines))
    index = data.draw(st.integers(0, len(lines)))
    place = source.line_starts[index + 1]
    assert source.rewrite([Edit(place, place, "import os\n")]).decode() == laid_out(
        [*lines[:index], "import os", *lines[index:]]
    )
    if index < len(lines):
        removed = Edit(place, source.line_starts[index + 2], "")
        assert source.rewrite([removed]).decode() == laid_out([*lines[:index], *lines[index + 1 :]])


# --- through the command line


WASTE = "ds = tf.data.Dataset.range(9).repeat().cache()"
REPAIRED = "ds = tf.data.Dataset.range(9).cache().repeat()"
GUIDE = document(
    f"""
    # Guide

    Not read: `{WASTE}`.

    ```python
    # {WASTE} is not what follows
    import numpy
    ```

    ```python
    import tensorflow as tf
    ```

    1. Build it:

       ```python
       {WASTE}
       ```

    ```bash
    {WASTE}
    ```

    ```{{code-cell}} ipython3
    :tags: [hide]
    %matplotlib inline
    {WASTE}
    ```

    ~~~pycon
    >>> {WASTE}
    >>> ds
    <RepeatDataset>
    ~~~
    """
)
BOOK = document(
    f"""
    Guide
    =====

    .. code-block:: python
       :linenos:

       import tensorflow as tf
       {WASTE}

    And then:

    >>> {WASTE}
    >>> ds
    """
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents of all kinds, and one Python file that is clean."""
    monkeypatch.chdir(tmp_path)
    for name in ("guide.md", "guide.qmd", "guide.markdown"):
        (tmp_path / name).write_text(GUIDE)
    (tmp_path / "book.rst").write_text(BOOK)
    (tmp_path / "train.py").write_text(IMPORT)
    return tmp_path


def check(*words: str) -> int:
    return main(["check", "--no-cache", "--select=TFM305", "--output-format=concise", *words])


def places(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.split(": TFM305")[0] for line in capsys.readouterr().out.splitlines()]


FOUND = [f"{row}:{column}" for row, column in ((17, 43), (27, 40), (31, 44))]


def test_documents_are_read_when_asked_for_or_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check() == 0
    assert check("--include-markdown") == 1
    everything = [f"book.rst:{place}" for place in ("8:43", "12:44")]
    everything += [f"{name}:{place}" for name in ("guide.markdown", "guide.md", "guide.qmd") for place in FOUND]
    assert places(capsys) == everything
    assert check("guide.qmd") == 1
    assert places(capsys) == [f"guide.qmd:{place}" for place in FOUND]
    (folder / "tfmemlint.toml").write_text("include-markdown = true\n")
    assert check() == 1
    assert places(capsys) == everything
    assert check("--no-include-markdown") == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_documents_are_repaired_in_place(end: str, folder: Path) -> None:
    texts = {"guide.md": GUIDE, "guide.qmd": GUIDE, "book.rst": BOOK}
    for name, text in texts.items():
        (folder / name).write_bytes(text.replace("\n", end).encode())
    assert check("--fix", *texts) == 0
    for name, text in texts.items():
        rows = text.split("\n")
        code = [row for row in range(len(rows)) if WASTE in rows[row] and rows[row].strip()[:2] in ("ds", ">>")]
        if text == GUIDE:
            code.remove(rows.index("```bash") + 1)
        for row in code:
            rows[row] = rows[row].replace(WASTE, REPAIRED)
        assert (folder / name).read_bytes() == end.join(rows).encode()


def test_a_block_that_does_not_parse_hides_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = GUIDE.replace("```bash\n", "```python\nds = (\n```\n\n```bash\n")
    (folder / "guide.md").write_text(text)
    assert check("guide.md") == 1
    out = capsys.readouterr().out.splitlines()
    places = [line.split(": ")[0].removeprefix("guide.md:") for line in out]
    assert places == ["17:43", "21:6", "31:40", "35:44"]
    assert "TFM002" in out[1]


def test_an_import_made_again_begins_a_new_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A chapter's names are unknown in the next one, whose own are known."""
    waste = "ds = tf.data.Dataset.range(9).repeat()\n"
    chapters = [IMPORT + waste, "ds = ds.cache()\n", IMPORT + "ds = ds.cache()\n", waste + "ds = ds.cache()\n"]
    (folder / "book.md").write_text("\n".join(f"```python\n{text}```\n" for text in chapters))
    assert main(["check", "--isolated", "--select", "TFM305", "--output-format", "concise", "book.md"]) == 1
    rows = [line.split(":")[1] for line in capsys.readouterr().out.splitlines() if "TFM305" in line]
    assert rows == ["7", "17"]


def test_a_document_without_tensorflow_is_clean(folder: Path) -> None:
    (folder / "other.md").write_text(GUIDE.replace("import tensorflow as tf", "import torch as tf"))
    assert check("other.md") == 0
