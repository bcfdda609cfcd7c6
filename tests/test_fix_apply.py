"""Repairs in rounds, taking back what does not do what it says, and files that are written whole."""

from __future__ import annotations

import ast
import json
import os
import re
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from killed import ends_before

from tfmemlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from tfmemlint.fix.apply import FileChangedError, Fixed, fix_bytes, write_atomically
from tfmemlint.fix.select import select_fixes
from tfmemlint.text.read import read_source
from tfmemlint.text.source import Source, SourceError


@dataclass(frozen=True)
class Linted:
    """As much of the engine's result as repairing needs."""

    source: Source | None
    findings: tuple[Finding, ...]


Rule = tuple[str, str, str]
"""Code, the word that it finds, and what its fix writes in its place."""


def found(code: str, span: Span, *edits: Edit, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(code, "bad-thing", severity, "bad", span, fix=Fix("repair", edits, Safety.SAFE) if edits else None)


def linter(*rules: Rule, path: str = "train.py") -> Callable[[bytes], Linted]:
    """A linter of words, which reports blocks that do not parse as the engine does."""

    def lint(data: bytes) -> Linted:
        try:
            source = read_source(data, path)
        except SourceError:
            return Linted(None, (found("TFM001", Span(0, 0)),))
        findings = []
        for block in source.blocks:
            try:
                ast.parse(source.text[block.span.start : block.span.end])
            except SyntaxError:
                findings.append(found("TFM002", block.span))
        for code, word, new in rules:
            for match in re.finditer(rf"\b{word}\b", source.text):
                findings.append(found(code, Span(*match.span()), Edit(*match.span(), new)))
        return Linted(source, tuple(findings))

    return lint


def fixed(data: bytes, *rules: Rule, path: str = "train.py") -> Fixed[Linted]:
    return fix_bytes(data, linter(*rules, path=path), select_fixes)


GOOD = ("TFM900", "bad", "good")


def test_all_fixes_are_made_and_nothing_else_changes() -> None:
    data = b"\xef\xbb\xbfbad\r\n\tx = [bad,\r\n\x0c bad]".replace(b"\tx", b"x")
    result = fixed(data, GOOD)
    assert result.data == data.replace(b"bad", b"good")
    assert [finding.code for finding in result.applied] == ["TFM900"] * 3
    assert (result.linted.findings, result.failed, result.refused) == ((), (), ())
    assert fixed(result.data, GOOD).data is result.data


def test_a_file_without_fixes_is_the_very_same() -> None:
    data = b"x = 1\n"
    result = fixed(data, GOOD)
    assert result.data is data
    assert result.applied == ()


def test_a_known_result_is_not_made_again() -> None:
    lint = linter(GOOD)
    linted = lint(b"x = 1\n")
    assert fix_bytes(b"x = 1\n", lint, select_fixes, linted).linted is linted


def test_what_a_fix_uncovers_is_fixed_in_the_next_round() -> None:
    assert fixed(b"one\n", ("TFM901", "one", "two"), ("TFM902", "two", "three")).data == b"three\n"


def test_fixes_of_the_same_text_are_made_one_after_the_other() -> None:
    def lint(data: bytes) -> Linted:
        source = read_source(data, "train.py")
        findings = [found("TFM901", Span(0, 1), Edit(0, 9, "(f)(x)(y)"))] if source.text.startswith("f(") else []
        place = source.text.find("(y)")
        if place >= 0 and "z" not in source.text:
            findings.append(found("TFM902", Span(place, place), Edit(place + 1, place + 2, "z")))
        return Linted(source, tuple(findings))

    result = fix_bytes(b"f(x)(y)  \n", lint, select_fixes)
    assert result.data == b"(f)(x)(z)\n"
    assert [finding.code for finding in result.applied] == ["TFM901", "TFM902"]


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        ("(", "leaves code that does not parse"),
        ("evil", "changes nothing"),
        ("evil + 1", "leaves the finding or makes another TFM901"),
        ("1 + evil + evil", "leaves the finding or makes another TFM901"),
    ],
)
def test_a_wrong_fix_is_taken_back_and_its_rule_named_while_others_go_on(new: str, reason: str) -> None:
    result = fixed(b"bad\nx = evil\nbad\n", GOOD, ("TFM901", "evil", new))
    assert result.data == b"good\nx = evil\ngood\n"
    assert [finding.code for finding in result.applied] == ["TFM900", "TFM900"]
    (failure,) = result.failed
    assert (failure.code, failure.name, failure.severity) == ("TFM000", "internal-error", Severity.ERROR)
    assert failure.message == f"the fix of TFM901 (bad-thing) {reason}; not applied"
    assert result.linted.source is not None
    assert result.linted.source.text[failure.span.start : failure.span.end] == "evil"


def test_a_wrong_fix_is_tried_once_even_when_others_move_it() -> None:
    tried: list[str] = []
    lint = linter(("TFM901", "evil", "("), ("TFM902", "one", "eleven"), ("TFM903", "eleven", "seven"))

    def counted(data: bytes) -> Linted:
        tried.append(data.decode())
        return lint(data)

    result = fix_bytes(b"one; evil; one\n", counted, select_fixes)
    assert result.data == b"seven; evil; seven\n"
    assert [finding.span for finding in result.failed] == [Span(7, 11)]
    assert sum("(" in text and text.count("eleven") == 1 for text in tried) == 1


def test_fixes_that_only_fail_together_are_made_as_far_as_they_go() -> None:
    lint = linter(("TFM901", "one", "uno"), ("TFM902", "two", "due"))

    def picky(data: bytes) -> Linted:
        linted = lint(data)
        both = b"uno" in data and b"due" in data
        return Linted(linted.source, (*linted.findings, found("TFM000", Span(0, 0)))) if both else linted

    result = fix_bytes(b"one; two\n", picky, select_fixes)
    assert result.data == b"uno; two\n"
    assert [failure.message for failure in result.failed] == [
        "the fix of TFM902 (bad-thing) makes a check fail; not applied"
    ]


def test_a_fix_that_says_less_than_it_changes_is_taken_back() -> None:
    lint = linter(GOOD)

    def forgetful(data: bytes) -> Linted:
        """Reads the repaired text as something else, as if the repair had changed what other lines mean."""
        return lint(data.replace(b"keep", b"lost") if b"good" in data else data)

    result = fix_bytes(b"bad; keep\n", forgetful, select_fixes)
    assert result.data == b"bad; keep\n"
    assert "changes more than it says" in result.failed[0].message


def test_a_fix_outside_the_text_is_taken_back() -> None:
    def lint(data: bytes) -> Linted:
        return Linted(read_source(data, "train.py"), (found("TFM901", Span(0, 1), Edit(90, 91, "x")),))

    result = fix_bytes(b"x = 1\n", lint, select_fixes)
    assert result.data == b"x = 1\n"
    assert result.failed[0].message == "the fix of TFM901 (bad-thing) has edits outside the text; not applied"


def test_a_file_that_cannot_be_read_is_left_alone() -> None:
    def lint(data: bytes) -> Linted:
        return Linted(None, (found("TFM001", Span(0, 0), Edit(0, 0, "x\n")),))

    assert fix_bytes(b"\xff", lint, select_fixes).data == b"\xff"


def test_rules_that_undo_each_other_leave_the_file_as_it_was() -> None:
    result = fixed(b"one; bad\n", ("TFM901", "one", "two"), ("TFM902", "two", "one"))
    assert result.data == b"one; bad\n"
    assert result.applied == ()
    assert [failure.message for failure in result.failed] == [
        "the fixes of TFM902 undo what another fix does; stopped repairing"
    ]


def test_fixes_that_add_text_at_one_place_are_all_made() -> None:
    """Each waits for the one before it, which takes more rounds than repairs may take that lead nowhere."""

    def lint(data: bytes) -> Linted:
        text = data.decode()
        bad = [match.start() for match in re.finditer("bad", text)]
        fixes = (found("TFM901", Span(at, at + 3), Edit(0, 0, "import x; "), Edit(at, at + 3, "good")) for at in bad)
        return Linted(read_source(data, "a.py"), tuple(fixes))

    result = fix_bytes(b"bad\n" * 25, lint, select_fixes)
    assert result.data == b"import x; " * 25 + b"good\n" * 25
    assert result.failed == ()


def test_repairing_stops_after_ten_rounds_that_lead_nowhere() -> None:
    rules = [(f"TFM9{number:02}", f"w{number}", f"w{number + 1}") for number in range(20)]
    result = fixed(b"w0\n", *rules)
    assert result.data == b"w10\n"
    assert [failure.message for failure in result.failed] == [
        "the fixes of TFM910 still find something to repair after 10 rounds; stopped repairing"
    ]


def test_a_fix_that_the_file_cannot_take_is_refused_without_blame() -> None:
    result = fixed(
        "# coding: latin-1\nbad; s = 'é'; other\n".encode("latin-1"), GOOD, ("TFM901", "other", "'\N{SNOWMAN}'")
    )
    assert result.data == "# coding: latin-1\ngood; s = 'é'; other\n".encode("latin-1")
    assert result.failed == ()
    (refused,) = result.refused
    assert refused.finding.code == "TFM901"
    assert "encoding" in refused.reason
    assert result.linted.findings == (refused.finding,)


def test_cells_are_repaired_beside_one_that_does_not_parse() -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "source": [source]}
        for source in ("bad", "x = (", "%time y = bad")
    ]
    data = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()
    result = fixed(data, GOOD, path="train.ipynb")
    assert result.data == data.replace(b"bad", b"good")
    assert result.failed == ()


@given(st.lists(st.sampled_from(["one", "two", "bad", "evil", "x"]), max_size=8).map("; ".join))
def test_no_order_of_good_and_wrong_fixes_breaks_a_file(text: str) -> None:
    rules = [("TFM901", "one", "two"), ("TFM902", "two", "[2]"), GOOD, ("TFM903", "evil", ")")]
    result = fixed(text.encode(), *rules)
    assert result.data.decode() == text.replace("one", "two").replace("two", "[2]").replace("bad", "good")
    assert len(result.failed) == text.count("evil")
    assert fixed(result.data, *rules).data == result.data


def test_a_file_is_replaced_with_its_mode_kept(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    file.chmod(0o750)
    owner = (file.stat().st_uid, file.stat().st_gid)
    write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert (file.stat().st_uid, file.stat().st_gid) == owner
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]


def with_attributes(file: Path, attributes: dict[str, bytes]) -> None:
    """Skips the test where the file system takes no extended attributes."""
    try:
        for name, value in attributes.items():
            os.setxattr(file, name, value)
    except (AttributeError, OSError) as error:
        pytest.skip(f"no extended attributes here: {error}")


def access_list(*entries: tuple[int, int, int]) -> bytes:
    """A POSIX access control list as Linux stores it: tag, permissions and id of each entry."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


NOBODY_IN_PARTICULAR = 0xFFFFFFFF
ONE_MORE_READER = access_list(
    (0x01, 6, NOBODY_IN_PARTICULAR), (0x02, 4, 12345), (0x04, 4, NOBODY_IN_PARTICULAR),
    (0x10, 4, NOBODY_IN_PARTICULAR), (0x20, 0, NOBODY_IN_PARTICULAR),
)  # fmt: skip


def test_extended_attributes_and_access_lists_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    with_attributes(file, {"user.origin": b"a\0b", "system.posix_acl_access": ONE_MORE_READER})
    before = {name: os.getxattr(file, name) for name in os.listxattr(file)}
    mode = file.stat().st_mode
    assert write_atomically(file, b"old", b"new") == ""
    assert {name: os.getxattr(file, name) for name in os.listxattr(file)} == before
    assert file.stat().st_mode == mode


def test_a_repair_gives_nobody_access_who_had_none(tmp_path: Path) -> None:
    """A folder's list for new files does not hold for one that is repaired."""
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    with_attributes(tmp_path, {"system.posix_acl_default": ONE_MORE_READER})
    write_atomically(file, b"old", b"new")
    assert "system.posix_acl_access" not in os.listxattr(file)


def test_an_attribute_that_cannot_be_kept_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no room for attributes")

    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    with_attributes(file, {"user.origin": b"here"})
    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(OSError, match="no room for attributes"):
        write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]


def test_other_names_of_a_file_keep_what_it_was(tmp_path: Path) -> None:
    file, other = tmp_path / "train.py", tmp_path / "other.py"
    file.write_bytes(b"old")
    os.link(file, other)
    assert "hard links" in write_atomically(file, b"old", b"new")
    assert (file.read_bytes(), other.read_bytes()) == (b"new", b"old")
    assert write_atomically(file, b"new", b"newer") == ""


def test_a_file_with_the_longest_name_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 252 + ".py")
    file.write_bytes(b"old")
    write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"new"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file = tmp_path / "real" / "train.py"
    file.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(file)
    write_atomically(link, b"old", b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert not file.is_symlink()


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"newer")
    with pytest.raises(FileChangedError, match=r"train\.py changed while it was being checked"):
        write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"newer"


def test_a_file_that_changes_while_the_new_one_is_written_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "chmod", lambda *_: file.write_bytes(b"newer"))
    with pytest.raises(FileChangedError):
        write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"newer"
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # the superuser may write everything
    with pytest.raises(PermissionError, match="read-only"):
        write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_system_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(file, b"old", b"new")
    assert file.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]


WRITING = """
write.write_atomically(sys.argv[1], b"old" * 100_000, b"new" * 200_000)
"""


def test_killed_at_any_line_the_file_is_old_or_new(tmp_path: Path) -> None:
    old, new = b"old" * 100_000, b"new" * 200_000
    file = tmp_path / "train.py"
    seen: list[bytes] = []
    for line in range(200):
        file.write_bytes(old)
        ended = ends_before(line, WRITING, str(file))
        seen.append(file.read_bytes())
        if ended:
            break
    assert set(seen) == {old, new}
    assert seen == sorted(seen, key=lambda content: content == new), "once new, it stays new"
    assert ended
