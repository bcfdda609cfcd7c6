"""The page of verdicts: each kind, with what was measured drawn, in one file that needs no other."""

from __future__ import annotations

import io
import itertools
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from importlib import resources

import pytest

from tfmemlint.report.style import Style
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.judge import judge
from tfmemlint.verify.monitor import Hot
from tfmemlint.verify.pages.html import page
from tfmemlint.verify.pages.report import figure, write_json, write_text
from tfmemlint.verify.pages.run_page import page as run_page
from tfmemlint.verify.result import Environment, Pair, Result
from tfmemlint.verify.run.measure import Program
from tfmemlint.verify.run.runs import Failure, Line, Run
from tfmemlint.verify.verdicts import CONFIRMED, KINDS, NEEDS_MORE, REPAIR_FAILS, Verdict

MIB = 1 << 20
HOSTILE = "\u202eevil <script>alert(1)</script> <a href='x'> \x1b[31m" + "w" * 500
WHERE = Environment({"tensorflow": "2.21.0"}, "CPU (x86_64 Linux)", "bubblewrap: no network, files read-only", 3)


def ran(peak: int, marks: Sequence[tuple[float, int, int, int | None, int, int]] = ()) -> Run:
    course = ((0.0, 0, 100, None), (0.1, peak, 200, None), (0.3, peak // 2, 200, None))
    return Run("ok", initialized=True, peak_bytes=peak, live_bytes=0, timeline=course, marks=tuple(marks))


def result(verdict: Verdict, before: Sequence[Run] = (), after: Sequence[Run] | None = None, **fields: bool) -> Result:
    repaired = None if after is None else Program("x = make()\ny = small(x)\n")
    pair = Pair(Program("x = make()\ny = large(x)\n"), repaired, ("mnist.load_data() gave made-up images",))
    return Result("TFM305", "cache-after-repeat", "train.py:6:27", "a message", verdict, pair, tuple(before),
                  tuple(after or ()), **fields)  # fmt: skip


def compared() -> Result:
    before, after = [ran(128 * MIB)], [ran(16 * MIB)]
    return result(judge(Claim(), before, after), before, after)


def held_against_the_message() -> Result:
    before = [ran(748 * MIB)]
    return result(judge(Claim(expected=750 * MIB), before, []), before, alone=True)


def growing() -> Result:
    before = [ran(9 * MIB, [(number / 10, number * MIB, number * MIB, None, 0, 0) for number in range(1, 9)])]
    return result(judge(Claim(growth=True, by_itself=True), before, []), before)


class _Tags(HTMLParser):
    """Checks that each tag is closed where it should be, and keeps what is named from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.named: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self.named += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "br", "wbr"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Nothing is open after it."""

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(text: str) -> str:
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert all(re.fullmatch(r"#finding-\d+", name) for name in tags.named)
    assert not re.search(r"<script|<link|@import|url\(|https?:|[\x1b\u202e]", text)
    headings = [int(tag[1]) for tag, _ in tags.seen if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1 and headings.count(1) == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(headings))
    described = [(given["role"], bool(given["aria-label"])) for tag, given in tags.seen if tag == "svg"]
    assert described == [("img", True)] * text.count("<svg")
    assert all(given.get("tabindex") == "0" for _, given in tags.seen if given.get("class") == "scroll")
    return text


def drawn(*results: Result) -> str:
    return checked(page(results, WHERE))


def printed(*results: Result) -> str:
    text = io.StringIO()
    write_text(results, WHERE, text, Style(False))
    return text.getvalue()


def test_each_kind_of_verdict_is_counted_and_coloured() -> None:
    text = drawn(*(result(Verdict(kind, "a reason")) for kind in KINDS))
    style = resources.files("tfmemlint.report.pages").joinpath("page.css").read_text(encoding="utf-8")
    for kind in KINDS:
        name = kind.replace(" ", "-")
        assert f'<span class="badge {name}">1 {kind}</span>' in text
        assert re.search(rf"\.{name}\b[^{{}}]*{{ color: var", style), kind


def test_kinds_are_told_apart_without_colour() -> None:
    style = resources.files("tfmemlint.report.pages").joinpath("page.css").read_text(encoding="utf-8")
    signs = [re.findall(rf'\.{kind.replace(" ", "-")}::before {{ content: "([^"]+)"', style) for kind in KINDS]
    assert all(len(found) == 1 for found in signs) and len({sign for (sign,) in signs}) == len(KINDS)
    assert {*re.findall(r'pre \.(\w+)::before { content: "(.)"', style)} == {("gone", "-"), ("come", "+")}


def test_the_verdict_follows_the_finding_which_a_narrow_page_shows() -> None:
    head, *rows = re.findall(r"<tr>(.*?)</tr>", drawn(compared()))
    assert re.findall(r"<th [^>]*>(.*?)</th>", head) == [
        "finding", "verdict", "measured", "before", "after", "saved", "ratio",
    ]  # fmt: skip
    assert [re.findall(r'<td class="(\w+)"', row)[:2] for row in rows] == [["finding", "verdict"]]


def test_nothing_in_a_finding_is_taken_for_markup() -> None:
    runs = [ran(9 * MIB)]
    pair = Pair(Program(HOSTILE), Program("x = 1"), (HOSTILE,))
    bad = Result(HOSTILE, HOSTILE, HOSTILE, HOSTILE, Verdict(CONFIRMED, HOSTILE, "value"), pair, tuple(runs))
    text = page([bad], Environment({HOSTILE: HOSTILE}, HOSTILE, HOSTILE), HOSTILE)
    failed = Run("error", error=Failure("Bad", message=HOSTILE), allocator_problem=HOSTILE, versions={"a": HOSTILE})
    monitored = run_page(HOSTILE, failed, [Hot(Line(HOSTILE, 1, HOSTILE, 1, 1, 1, 1), HOSTILE, ())])
    for each in (text, monitored):
        assert "&lt;script&gt;alert(1)" in each
        checked(each)


def test_process_memory_that_is_not_known_is_not_drawn() -> None:
    assert "<svg" not in checked(run_page("a.py", Run("ok"), []))
    text = checked(run_page("a.py", Run("ok", timeline=((0.0, MIB, None, None), (2000.0, MIB, None, None))), []))
    assert ">tensors</text>" in text and "since its start</text>" not in text
    assert ">1000 s</text>" in text and ">2000 s</text>" in text


def test_rounds_are_whole_numbers() -> None:
    before = [ran(MIB, [(number / 10, number * MIB, number * MIB, None, 0, 0) for number in range(1, 1502)])]
    text = drawn(result(judge(Claim(growth=True, by_itself=True), before, []), before))
    assert ">750</text>" in text and ">1501</text>" in text


@pytest.mark.parametrize(("value", "words"), [(123456789.0, "123456789"), (4e18, "4e+18"), (1.5e300, "1.5e+300")])
def test_counts_are_never_longer_than_a_cell(value: float, words: str) -> None:
    assert figure(value, "") == words


def contrast(*colors: str) -> float:
    """How far apart two colours are, from 1 to 21 (WCAG 2); 4.5 is enough for text."""
    shades = []
    for color in colors:
        parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        shades.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(shades) + 0.05) / (min(shades) + 0.05)


@pytest.mark.parametrize("number", [0, 1], ids=["light", "dark"])
def test_all_colours_of_text_can_be_read(number: int) -> None:
    style = resources.files("tfmemlint.report.pages").joinpath("page.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"--(\w+): (#\w{6})", re.findall(r":root \{[^}]*\}", style)[number]))
    for name in ("ink", "soft", "good", "warn", "bad", "note"):
        for ground in ("paper", "card"):
            assert contrast(colors[name], colors[ground]) >= 4.5, (name, ground)
    assert min(contrast(colors["ink"], colors[ground]) for ground in ("gone", "come")) >= 4.5


def test_what_speaks_against_a_repair_is_red() -> None:
    style = resources.files("tfmemlint.report.pages").joinpath("page.css").read_text(encoding="utf-8")
    (red,) = re.findall(r"([^}]*){ color: var\(--bad\); }", style)
    assert red.split() == [f".{NEEDS_MORE.replace(' ', '-')},", f".{REPAIR_FAILS.replace(' ', '-')}"]


def test_two_programs_are_drawn_beside_each_other() -> None:
    text = drawn(compared())
    assert "peak of tensors: 128 MiB before, 16 MiB after" in text
    assert text.count('<path class="before"') == text.count('<path class="after"') == 2  # the line and its name
    assert '<span class="gone">y = large(x)</span>' in text and '<span class="come">y = small(x)</span>' in text
    assert "<li>mnist.load_data() gave made-up images</li>" in text
    assert '<td class="number">8x</td>' in text
    assert "bytes held by tensors over time: at most 128 MiB before, 16 MiB after" in text


def test_one_program_is_held_against_the_message() -> None:
    text = drawn(held_against_the_message())
    assert "peak of tensors: 750 MiB claimed, 748 MiB seen" in text
    assert '<td class="number">seen 748 MiB</td>' in text
    assert '<rect class="claimed"' in text and '<path class="after"' not in text
    assert ">measured alone</span>" in text
    assert "<h3>program</h3>" in text and "<h3>after</h3>" not in text and 'class="gone"' not in text


def test_growth_is_drawn_round_by_round() -> None:
    text = drawn(growing())
    assert "tensors kept, round by round" in text and "over time" not in text
    assert "measured alone" not in text


def test_the_table_says_what_was_seen_of_one_program() -> None:
    rows = printed(compared(), held_against_the_message()).splitlines()
    assert re.split(r"  +", rows[1]) == [
        "train.py:6:27 TFM305", "peak of tensors", "128 MiB", "16 MiB", "112 MiB", "8x", "confirmed",
    ]  # fmt: skip
    assert re.split(r"  +", rows[3])[1:] == ["peak of tensors", "seen 748 MiB", "-", "-", "-", "confirmed"]
    assert rows[4].strip() == "claimed 750 MiB, seen 748 MiB"


def test_json_tells_claims_and_programs_of_the_statements_alone() -> None:
    text = io.StringIO()
    write_json([compared(), held_against_the_message()], WHERE, text)
    both, one = json.loads(text.getvalue())["results"]
    assert (both["claimed"], both["alone"]) == (None, False)
    assert (one["claimed"], one["before"], one["after"], one["alone"]) == (750 * MIB, 748 * MIB, None, True)
    assert one["programs"]["after"] is None
