"""Which fixes go together: whole ones, apart from each other, in the same order every time."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint.finding import Edit, Finding, Fix, Safety, Severity, Span
from tfmemlint.fix.select import merged_edits, select_fixes


def found(place: int, *edits: Edit, code: str = "TFM900", safety: Safety = Safety.SAFE) -> Finding:
    fix = Fix("repair", edits, safety) if edits else None
    return Finding(code, "bad-thing", Severity.WARNING, "bad", Span(place, place), fix=fix)


def places(findings: tuple[Finding, ...]) -> list[int]:
    return [finding.span.start for finding in findings]


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (Edit(0, 4, "a"), Edit(4, 8, "b"), True),
        (Edit(0, 4, "a"), Edit(3, 8, "b"), False),
        (Edit(0, 8, "a"), Edit(3, 4, "b"), False),
        (Edit(0, 8, ""), Edit(3, 3, "b"), False),
        (Edit(2, 8, "a"), Edit(2, 2, "b\n"), True),
        (Edit(2, 8, "a"), Edit(8, 8, "b\n"), True),
        (Edit(2, 2, "a\n"), Edit(2, 2, "b\n"), False),
        (Edit(2, 2, "import gc\n"), Edit(2, 2, "import gc\n"), False),
        (Edit(2, 2, "("), Edit(2, 2, "("), False),
    ],
)
def test_fixes_of_the_same_text_wait_for_the_next_round(first: Edit, second: Edit, both: bool) -> None:
    assert places(select_fixes([found(1, first), found(2, second)])) == ([1, 2] if both else [1])


def test_a_fix_is_taken_whole_or_not_at_all() -> None:
    findings = [found(1, Edit(0, 5, "a")), found(2, Edit(4, 5, "b"), Edit(20, 21, "c")), found(3, Edit(20, 22, "d"))]
    assert places(select_fixes(findings)) == [1, 3]


def test_a_line_that_two_fixes_add_is_added_once() -> None:
    line = Edit(0, 0, "import gc\n")
    chosen = select_fixes([found(1, line, Edit(10, 11, "a")), found(2, line, Edit(20, 21, "b"))])
    assert places(chosen) == [1, 2]
    assert merged_edits(chosen) == (line, Edit(10, 11, "a"), Edit(20, 21, "b"))


def test_a_bracket_that_two_fixes_add_is_not_shared() -> None:
    bracket = Edit(0, 0, "(")
    assert places(select_fixes([found(1, bracket, Edit(5, 5, ")")), found(2, bracket, Edit(9, 9, ")"))])) == [1]


def test_only_safe_fixes_unless_unsafe_ones_are_asked_for() -> None:
    findings = [
        found(1, Edit(0, 1, "")),
        found(2, Edit(2, 3, ""), safety=Safety.UNSAFE),
        found(3, Edit(4, 5, ""), safety=Safety.DISPLAY),
        found(4),
    ]
    assert places(select_fixes(findings)) == [1]
    assert places(select_fixes(findings, unsafe=True)) == [1, 2]


def test_an_edit_leaves_line_ends_to_the_file() -> None:
    with pytest.raises(ValueError, match="carriage return"):
        Edit(0, 0, "x = 1\r\n")


def test_only_codes_that_may_be_fixed() -> None:
    findings = [found(1, Edit(0, 1, "")), found(2, Edit(2, 3, ""), code="TFM901")]
    assert places(select_fixes(findings, fixable=lambda code: code == "TFM901")) == [2]


EDITS = st.builds(
    lambda start, length, content: Edit(start, start + length, content),
    st.integers(0, 20),
    st.integers(0, 5),
    st.sampled_from(["", "a", "b\n"]),
).filter(lambda edit: edit.start < edit.end or edit.content)


def fixes(edits: list[Edit]) -> Fix | None:
    try:
        return Fix("repair", tuple(sorted(edits)), Safety.SAFE)
    except ValueError:
        return None


FIXES = st.lists(EDITS, min_size=1, max_size=3).map(fixes).filter(bool)


def apart(edit: Edit, other: Edit) -> bool:
    """Whether two edits can be made together, told by the characters and gaps between characters that each changes."""

    def changes(edit: Edit) -> set[int]:
        return {2 * edit.start} if edit.start == edit.end else set(range(2 * edit.start + 1, 2 * edit.end))

    return not changes(edit) & changes(other)


@given(st.lists(FIXES, max_size=8), st.randoms())
def test_chosen_edits_are_apart_and_nothing_more_fits(made: list[Fix], shuffle: random.Random) -> None:
    findings = [
        Finding(f"TFM{900 + number}", "bad", Severity.WARNING, "bad", Span(number, number), fix=fix)
        for number, fix in enumerate(made)
    ]
    chosen = select_fixes(findings)
    shuffled = list(findings)
    shuffle.shuffle(shuffled)
    assert select_fixes(shuffled) == chosen
    edits = merged_edits(chosen)
    assert all(apart(edit, other) for index, edit in enumerate(edits) for other in edits[:index])
    for finding in findings:
        if finding not in chosen:
            assert finding.fix is not None
            earlier = merged_edits(one for one in chosen if one.sort_key < finding.sort_key)
            shared = {edit for edit in finding.fix.edits if edit in earlier}
            fits = all(apart(edit, other) for edit in set(finding.fix.edits) - shared for other in earlier)
            assert not fits or shared
