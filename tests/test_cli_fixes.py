"""`tfmemlint check --fix` keeps its promises: whole repairs, checked each round, written at once or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from command_line import HEAD, Run, write
from killed import ends_before
from packs import Install, rule_module

pytestmark = pytest.mark.usefixtures("here")


def fixing(*edits: tuple[str, str]) -> str:
    """The body of a word rule whose fix replaces the first of each of these words; there is none if one is missing."""
    return f"""text, pairs = file.source.text, {edits!r}
        edits = [Edit(text.index(old), text.index(old) + len(old), new) for old, new in pairs if old in text]
        fix = Fix("write it otherwise", tuple(edits), Safety.SAFE) if len(edits) == len(pairs) else None
        yield self.finding(span, file, "found it", fix=fix)"""


def rules(install: Install, **bodies: str) -> None:
    """Installs a rule for each word (ABC001, ABC002, ... in the order of the alphabet) with this body."""
    made = {
        word: rule_module(f"ABC{number:03}", f"{word.title()}Word", word, body=body)
        for number, (word, body) in enumerate(sorted(bodies.items()), start=1)
    }
    install(**made)


# -- which fixes are made ---------------------------------------------------------------------------------------------


def test_a_fix_is_made_whole_or_not_at_all(run: Run, install: Install) -> None:
    """The second fix changes two words, one of which the first takes away: no half of it is made."""
    rules(
        install,
        alpha=fixing(("alpha", "A"), ("middle", "M")),
        omega=fixing(("middle", "x"), ("omega", "y")),
    )
    write(a=HEAD + "alpha, middle, omega\n")
    run("check", "--fix")
    assert Path("a.py").read_text() == HEAD + "A, M, omega\n"


def test_fixes_that_meet_are_made_one_after_the_other(run: Run, install: Install) -> None:
    rules(install, inner=fixing(("inner", "core")), outer=fixing(("outer(inner)", "(inner)")))
    write(a=HEAD + "outer(inner)\n")
    done = run("check", "--fix", "--show-fixes")
    assert (done.code, Path("a.py").read_text()) == (0, HEAD + "(core)\n")
    assert [line.split()[4] for line in done.err.splitlines()] == ["ABC001", "ABC002"]


def test_what_a_fix_uncovers_is_fixed_too(run: Run, install: Install) -> None:
    rules(install, one=fixing(("one", "two")), two=fixing(("two", "three")), three=fixing(("three", "four")))
    write(a=HEAD + "one\n")
    assert run("check", "--fix").code == 0
    assert Path("a.py").read_text() == HEAD + "four\n"
    assert run("check", "--diff").out == ""


def test_rules_that_undo_each_other_end_and_are_named(run: Run, install: Install) -> None:
    rules(install, black=fixing(("black", "white")), white=fixing(("white", "black")))
    write(a=HEAD + "black\n")
    done = run("check", "--fix", "--output-format=concise")
    assert (done.code, Path("a.py").read_text()) == (3, HEAD + "black\n")
    assert "TFM000 the fixes of ABC002 undo what another fix does; stopped repairing" in done.out


# -- fixes that are taken back ----------------------------------------------------------------------------------------

GOOD = fixing(("good", "better"))


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("(", "leaves code that does not parse"),
        ("evil", "changes nothing"),
        ("[evil]", "leaves the finding or makes another ABC001"),
        ("x = evil + evil", "leaves the finding or makes another ABC001"),
        ("y = \\", "changes a statement that it does not touch"),
        ("crash", "makes a check fail"),
    ],
)
@pytest.mark.parametrize("mode", ["--fix", "--diff"])
def test_a_fix_that_does_harm_is_taken_back_and_its_rule_named(
    new: str, reason: str, mode: str, run: Run, install: Install
) -> None:
    rules(install, evil=fixing(("evil", new)), good=GOOD, crash="raise RuntimeError('oh')\n        yield")
    install_order = {"crash": "ABC001", "evil": "ABC002", "good": "ABC003"}
    text = HEAD + "evil\nz = 1\nw = good\n"
    write(a=text, b=HEAD + "good\n")
    done = run("check", mode, "--output-format=concise")
    assert done.code == 3
    words = reason.replace("ABC001", install_order["evil"])
    if mode == "--fix":
        assert Path("a.py").read_text() == text.replace("good", "better")
        assert f"a.py:2:1: TFM000 the fix of ABC002 (evil-word) {words}; not applied" in done.out
    else:
        assert "-w = good\n+w = better\n" in done.out and "evil" not in done.out.replace(" evil\n", "")
        assert Path("a.py").read_text() == text
    assert Path("b.py").read_text() == HEAD + ("better\n" if mode == "--fix" else "good\n")


@pytest.mark.parametrize("words", [("--ignore=TFM002",), ("--config", "per-file-ignores = {'*' = ['TFM002']}")])
def test_a_fix_that_breaks_a_file_is_taken_back_where_syntax_errors_are_not_told(
    words: tuple[str, ...], run: Run, install: Install
) -> None:
    rules(install, evil=fixing(("evil", "(")))
    write(a=HEAD + "evil\n")
    done = run("check", "--fix", "--output-format=concise", *words)
    assert (done.code, Path("a.py").read_text()) == (3, HEAD + "evil\n")
    assert "TFM000 the fix of ABC001 (evil-word) leaves code that does not parse; not applied" in done.out


def test_a_fix_that_swallows_another_statement_in_a_notebook_is_taken_back(run: Run, install: Install) -> None:
    rules(install, evil=fixing(("evil", "y = \\")))
    text = '{"cells": [{"cell_type": "code", "source": ["import keras\\n", "evil\\n", "z = 1"]}]}'
    Path("a.ipynb").write_text(text)
    done = run("check", "--fix", "--output-format=concise")
    assert (done.code, Path("a.ipynb").read_text()) == (3, text)
    assert "TFM000 the fix of ABC001 (evil-word) changes a statement that it does not touch" in done.out


# -- fixes that the file cannot take ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.py", "# coding: latin-1\nimport keras\nx = 'é', shout\n".encode("latin-1"), "encoding"),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": ["import keras\\n", "y = %sql shout"]}]}', "magic"),
    ],
)
def test_a_fix_that_the_file_cannot_take_is_a_suggestion(
    name: str, data: bytes, reason: str, run: Run, install: Install
) -> None:
    """It counts as fixable nowhere, and what stands in its way is said."""
    word = "shout" if name.endswith(".py") else "get_ipython"
    rules(install, **{word: fixing((word, "'\N{SNOWMAN}'"))})
    Path(name).write_bytes(data)
    for words in ([], ["--fix"]):
        done = run("check", *words)
        assert done.code == 1
        assert "fixable" not in done.out and "fix:" not in done.out
        assert "suggestion: write it otherwise (by hand: " in done.out and reason in done.out
        assert "[suggestion]" in run("check", *words, "--output-format=concise").out
    assert Path(name).read_bytes() == data
    assert run("check", "--diff").err == "tfmemlint: would fix 0 findings; --fix does it\n"


# -- writing ----------------------------------------------------------------------------------------------------------


def test_mode_and_owner_are_kept(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    Path("a.py").chmod(0o751)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        os.chown("a.py", 1234, 4321)
    before = Path("a.py").stat()
    assert run("check", "--fix", "-n").code == 0
    after = Path("a.py").stat()
    assert Path("a.py").read_text() == HEAD + "calm\n"
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (0o751, before.st_uid, before.st_gid)
    assert os.listdir(".") == ["a.py"]


def test_a_link_stays_and_its_file_is_replaced(run: Run, word_rules: None) -> None:
    Path("real").mkdir()
    Path("real/a.py").write_text(HEAD + "shout\n")
    Path("second.py").symlink_to("real/a.py")
    Path("first.py").symlink_to("second.py")
    assert run("check", "--fix", "-n", "first.py").code == 0
    assert Path("first.py").is_symlink() and Path("second.py").is_symlink()
    assert not Path("real/a.py").is_symlink()
    assert Path("real/a.py").read_text() == HEAD + "calm\n"
    assert os.listdir("real") == ["a.py"]


def test_a_file_that_changes_while_it_is_checked_is_left_alone(run: Run, install: Install) -> None:
    save = "open('a.py', 'a').write('saved = 1\\n')\n        "
    rules(install, shout=save + fixing(("shout", "calm")))
    write(a=HEAD + "shout\n", b=HEAD + "calm\n")
    done = run("check", "--fix", "a.py")
    assert done.code == 2
    assert "a.py changed while it was being checked; it was left as it is" in done.err
    assert set(Path("a.py").read_text().splitlines()) == {"import keras", "shout", "saved = 1"}
    assert os.listdir(".") == ["a.py", "b.py"] or sorted(os.listdir("."))[-2:] == ["a.py", "b.py"]


def test_a_file_that_must_not_be_written_stays_and_others_are_repaired(
    run: Run, word_rules: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(a=HEAD + "shout\n", b=HEAD + "shout\n")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "a.py" not in str(path) and real(path, mode))
    done = run("check", "--fix", "-n", "--output-format=concise")
    assert done.code == 2
    assert "tfmemlint: error: a.py: not repaired: a.py is read-only and was not changed" in done.err
    assert done.out == "a.py:2:1: ABC001 found shout [safe fix]\n"
    assert [Path(name).read_text() for name in ("a.py", "b.py")] == [HEAD + "shout\n", HEAD + "calm\n"]


FIXING = """
from tfmemlint.cli import main
sys.exit(main(["check", "--fix", "-n", "-q", "-j", "1", "--isolated", "--select=TFM305", "."]))
"""


def test_killed_at_any_moment_each_file_is_old_or_new() -> None:
    """Two files are repaired by a process that is killed after more and more steps of writing them."""
    old = "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n" + "# more\n" * 5_000
    new = old.replace(".repeat().cache()", ".cache().repeat()")
    names = ["a.py", "b.py"]
    made = set()
    for steps in range(0, 400, 13):
        for name in names:
            Path(name).write_text(old)
        ended = ends_before(steps, FIXING)
        texts = [Path(name).read_text() for name in names]
        assert all(text in (old, new) for text in texts)
        assert not [name for name in os.listdir(".") if name.endswith(".py") and name not in names]
        made.add(sum(text == new for text in texts))
        for name in set(os.listdir(".")) - set(names):
            os.unlink(name)
        if ended:
            break
    assert made == {0, 1, 2}
