"""Names that nobody chooses by accident: they write nothing to a terminal, begin no line, and patches apply."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import HEAD, Run

from tfmemlint.cli.commands import main
from tfmemlint.shown import patch_name, shown

NAMES = (
    "plain.py", "with blank.py", "größe.py", 'quo"te.py', "back\\slash.py", "tab\t.py", "line\nend.py", "cr\rend.py",
    "a\n::error title=x::pwned.py", "::error::x.py", "\x1b[31mred\x1b[0m.py", "c1\x9b31m.py", "bidi\u202eyp.x.py",
    "-dash.py", " first.py", "bell\a\b\v\f.py", "\udcff.py", "x" * 252 + ".py", "del\x7f.py", "line\u2028sep.py",
)  # fmt: skip
FORBIDDEN = [chr(code) for code in (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x202E, 0x2028)]
WASTE = "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")


def is_clean(output: bytes) -> bool:
    """Whether it is text without characters that command a terminal, no line of which can be taken for a command."""
    text = output.decode()
    text = text.replace("\t\n", "\n")  # behind names with blanks in patches
    return not any(char in text for char in FORBIDDEN) and not any(
        line.lstrip().startswith("::") for line in text.split("\n")
    )


@pytest.mark.parametrize("tool", [("git", "apply", "-p0"), ("patch", "-p0", "--force")], ids=["git", "patch"])
def test_the_patch_of_a_file_applies_whatever_its_name(
    tool: tuple[str, ...], here: Path, word_rules: None, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    names = [name for name in NAMES if tool[0] == "git" or len(name) < 200]  # patch needs a longer one besides
    for name in names:
        Path(name).write_text(HEAD + "shout\n")
    assert main(["check", "--diff", "-n"]) == 1
    patch = capfdbinary.readouterr().out
    assert is_clean(patch)
    try:
        done = subprocess.run(tool, input=patch, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip(f"{tool[0]} is not installed")
    assert done.returncode == 0, done.stderr + done.stdout
    assert {name for name in names if Path(name).read_text() != HEAD + "calm\n"} == set()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", b"src/a.py"),
        ("größe.py", "größe.py".encode()),
        ("a b.py", b"a b.py\t"),
        ('"', b'"\\""'),
        ("a\nb", b'"a\\nb"'),
        ("a\x1bb", b'"a\\033b"'),
        ("ä\u202e", b'"\\303\\244\\342\\200\\256"'),
        ("\udcff", b'"\\377"'),
    ],
)
def test_names_in_a_patch(path: str, expected: bytes) -> None:
    assert patch_name(path) == expected


def test_a_text_is_shown_on_one_line() -> None:
    assert shown("a\nb\x1b[0m\x9b\u202e\udcff é") == "a\\nb\\x1b[0m\\x9b\\u202e\\udcff é"


COMMANDS = [
    ("check", "-n", "-v"), ("check", "--diff"), ("check", "--fix", "--show-fixes"), ("check", "--add-ignore"),
    ("check", "--write-baseline"), ("check", "-v", "--cache-dir=\x1b[31mfull"), ("check", "-o", "\x1b/x"),
    ("check", "no\n::such\x1b", "\x1bpipe"), ("config", "--path=\x1b[31mfull"), ("config", "\x1b"), ("rule", "\x1b"),
    ("check", "--select=\x1b"), ("check", "--diff-base=\x1b"), ("check", "--baseline=\x1b"), ("\x1b::error",),
    ("check", "--write-baseline=a\n::error\x1b.py"), ("config", "--config=\x1b"), ("check", "\x1b[31mbroken"),
    ("check", "--output-format=concise", "-n"), ("check", "--output-format=junit", "-n"),
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(shown, words)))
def test_no_name_reaches_a_stream_as_it_is(words: tuple[str, ...], here: Path, run: Run) -> None:
    for name in NAMES:
        Path(name).write_text(WASTE)
    for name, text in {"full": "", "broken": "slect = 1\n"}.items():
        folder = Path(f"\x1b[31m{name}")
        folder.mkdir()
        (folder / "tfmemlint.toml").write_text(text)
        (folder / "a.py").write_text(WASTE)
    Path("loop\x1b.py").symlink_to("loop\x1b.py")
    Path("away\x1b.py").symlink_to(sys.executable)
    Path("a\n::error\x1b.py").write_text(WASTE)
    os.mkfifo("\x1bpipe")
    done = run(*words)
    assert is_clean(done.out.encode())
    assert is_clean(done.err.encode())
    assert all(line.startswith("tfmemlint: ") for line in done.err.splitlines()), done.err
    assert done.code in (0, 1, 2)
