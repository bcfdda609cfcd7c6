"""The comments that switch findings off: what they say, and the edits that take words out of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tfmemlint.config.selectors import ENGINE
from tfmemlint.finding import Edit
from tfmemlint.text.statements import Comment, Statements

ENGINE_CODES: Mapping[str, str] = {each.code: each.name for each in ENGINE}
VERBS = ("ignore", "disable", "enable", "file-ignore")

_SAYS = "noqa|nolint|ignore|disable|enable|file-ignore|ignore-file|disable-file|disable-next-line|off|skip"
"""Words by which other tools silence: behind our name and a colon, or alone behind our name, they are meant for us."""
HINT = re.compile(
    rf"\#[ \t]*(?:noqa|tfmemlint[ \t]*(?::|[ \t](?:{_SAYS})[ \t]*(?:\[|$|\#)))", re.IGNORECASE | re.MULTILINE
)
_OWN = re.compile(r"\#\s*tfmemlint\s*:\s*(?P<verb>[a-z][a-z-]*)\s*(?P<list>\[(?P<items>[^\[\]#]*)\])?", re.IGNORECASE)
_WRITTEN_OTHERWISE = re.compile(rf"\#\s*tfmemlint\s*:?\s*(?P<verb>{_SAYS})\b", re.IGNORECASE)
_NOQA = re.compile(r"\#\s*noqa\b(?:\s*:\s*(?P<items>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
_ITEM = re.compile(r"[^\s,]+")
_CODE_LIKE = re.compile(r"\s*(?:\[|[:=(]?\s*[A-Z]{3,6}\d)", re.IGNORECASE)
_NEXT = re.compile(r"(?<=\s)\#(?=[ \t]|[a-z]+:|noqa)", re.IGNORECASE)
"""The `#` at which another tool's words start; the one of "see #12" is part of a reason."""
_VISIBLE = re.compile(r"\S")
_PREFIX = re.compile(r"[A-Z]+\d{0,3}")


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a comment's list: a code, the start of codes or a rule's name, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Directive:
    """One instruction in a comment; a comment may hold several, and other tools' words beside them.

    `items` is None for one without a list, which means every code. `fault` says why an instruction that is meant for us
    means nothing.
    """

    verb: str
    comment: Comment
    start: int
    end: int
    items: tuple[Item, ...] | None
    fault: str = ""
    used: set[str] = field(default_factory=set)
    """The codes of the findings that it silenced."""

    @property
    def is_noqa(self) -> bool:
        return self.verb == "noqa"


def read_directives(statements: Statements) -> list[Directive]:
    """All instructions in the comments of a source, in order."""
    return [found for comment in statements.comments for found in _in_comment(statements.text, comment)]


def _in_comment(text: str, comment: Comment) -> Iterator[Directive]:
    position = comment.start
    while match := HINT.search(text, position, comment.end):
        start = match.start()
        following = _NEXT.search(text, start + 1, comment.end)
        stop = following.start() if following else comment.end
        end = start + len(text[start:stop].rstrip())
        found = _read(text, comment, start, end)
        if found:
            yield found
        position = stop


def _read(text: str, comment: Comment, start: int, end: int) -> Directive | None:
    noqa = _NOQA.match(text, start, end)
    if noqa:
        return Directive("noqa", comment, start, end, _items(noqa))
    own = _OWN.match(text, start, end)
    if not own:
        other = _WRITTEN_OTHERWISE.match(text, start, end)
        return Directive(other["verb"], comment, start, end, (), "write `tfmemlint:`, with a colon") if other else None
    verb, listed = own["verb"].lower(), own["list"] is not None
    fault = ""
    if verb not in VERBS:
        if not listed and not _WRITTEN_OTHERWISE.fullmatch(text[start:end]):
            return None
        fault = f"'{verb}' is none of {', '.join(VERBS)}"
    elif not listed and _CODE_LIKE.match(text, own.end("verb"), end):
        fault = f"write the codes in brackets, as in {verb}[TFM305]"
    return Directive(verb, comment, start, end, _items(own), fault)


def _items(match: re.Match[str]) -> tuple[Item, ...] | None:
    if match["items"] is None:
        return None
    base = match.start("items")
    entries = _ITEM.finditer(match["items"])
    return tuple(Item(entry.group(), base + entry.start(), base + entry.end()) for entry in entries)


class Codes:
    """The known codes and rule names, and which of them a comment's entry means."""

    def __init__(self, known: Mapping[str, str] | Collection[str]) -> None:
        names = dict(known) if isinstance(known, Mapping) else dict.fromkeys(known, "")
        self.all = frozenset((*ENGINE_CODES, *names))
        self._by_name = {name: code for code, name in (*ENGINE_CODES.items(), *names.items()) if name}
        self._meant: dict[str, frozenset[str]] = {}

    def meant(self, text: str) -> frozenset[str]:
        """The known codes that an entry stands for; none when it is unknown."""
        found = self._meant.get(text)
        if found is None:
            found = self._meant[text] = self._look_up(text)
        return found

    def _look_up(self, text: str) -> frozenset[str]:
        upper = text.upper()
        if upper == "ALL":
            return self.all
        if _PREFIX.fullmatch(upper) and (codes := frozenset(code for code in self.all if code.startswith(upper))):
            return codes
        named = self._by_name.get(text.lower())
        return frozenset((named,)) if named else frozenset()

    def covered(self, directive: Directive) -> frozenset[str]:
        """All known codes that a directive speaks of."""
        if directive.fault:
            return frozenset()
        if directive.items is None:
            return self.all
        return frozenset().union(*(self.meant(item.text) for item in directive.items))

    def is_ours(self, directive: Directive, item: Item) -> bool:
        """Whether an entry may be reported; in a `noqa` other tools' codes are none of our business."""
        upper = item.text.upper()
        return not directive.is_noqa or upper in self.all or upper.startswith("TFM")


def removal(statements: Statements, directive: Directive, dropped: Collection[Item]) -> Edit:
    """The edit that takes entries out of a directive, and with the last of them the directive, comment or line."""
    items, gone = directive.items or (), frozenset(dropped)
    kept = [item for item in items if item not in gone]
    text = statements.text
    if kept:
        return _shortened(text, items, kept)
    comment = directive.comment
    before, after = directive.start, _VISIBLE.search(text, directive.end, comment.end)
    while before > comment.start and text[before - 1].isspace():
        before -= 1
    if before > comment.start:
        return Edit(before, directive.end, "")
    return Edit(directive.start, after.start(), "") if after else _whole_comment(statements, comment)


def _shortened(text: str, items: Sequence[Item], kept: Sequence[Item]) -> Edit:
    """Each entry that stays keeps the separator before it, but the first one."""
    ends = {item: before.end for before, item in itertools.pairwise(items)}
    parts = [kept[0].text, *(text[ends[item] : item.end] for item in kept[1:])]
    return Edit(items[0].start, items[-1].end, "".join(parts))


def _whole_comment(statements: Statements, comment: Comment) -> Edit:
    """Takes a comment away with the blanks before it, and its line too when it stands alone there.

    Behind a backslash a bare `#` stays, or the next line would be drawn to this one."""
    text, block = statements.text, statements.block_of(comment.start).span
    line = max(text.rfind("\n", 0, comment.start) + 1, block.start)
    code = text[line : comment.start].rstrip()
    if code.endswith("\\") or (comment.alone and text.endswith("\\\n", 0, line)):
        return Edit(comment.start + 1, comment.end, "")
    if not comment.alone:
        return Edit(line + len(code), comment.end, "")
    if comment.end < block.end and text[comment.end] == "\n":
        return Edit(line, comment.end + 1, "")
    return Edit(line - 1 if line > block.start else line, comment.end, "")
