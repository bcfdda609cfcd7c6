"""The tables of the page, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from benchmarks.processes import Taken
from benchmarks.report import scaling
from benchmarks.results import Results
from benchmarks.tools import FIXIT, FLAKE8, LIBCST, OURS, PEERS, PYLINT, RUFF, RUFF_ALL, TORCHFIX, WITH_PLUGIN, Tool

NOTHING = "*Not measured.*"
_TITLES = {tool.name: tool.title for tool in (*PEERS, WITH_PLUGIN)}
_STATES = (("cold", "cold"), ("warm", "nothing changed"), ("changed", "one file changed"))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, its first column of words and the others of figures; a sentence where it has no row."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return NOTHING
    return "\n".join([f"| {' | '.join(head)} |", f"|---{'|--:' * (len(head) - 1)}|", *lines])


def figure(value: float) -> str:
    """A figure with about three digits, or all of those before the point."""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.{1 if value >= 10 else 2 if value >= 0.1 else 3}f}"


def thousands(count: int) -> str:
    """A count with its thousands apart."""
    return f"{count:,}".replace(",", " ")


def mebibytes(size: int) -> str:
    """Bytes in MiB."""
    return f"{size / 2**20:.0f}"


def milliseconds(seconds: float) -> str:
    """Seconds in ms."""
    return f"{1000 * seconds:.0f}"


def _peers(results: Results, show: Callable[[Taken, Taken], str]) -> str:
    """A row for each subject, a column for each tool; `show` is given what the tool took and what parsing did."""
    measured = {each.tool for each in results.of("peers")}
    tools = [tool for tool in PEERS if tool.name in measured]
    rows = []
    for name in dict.fromkeys(each.subject for each in results.of("peers")):
        parse = results.get("peers", name, LIBCST.name)
        cells = [results.get("peers", name, tool.name) for tool in tools]
        if parse is not None:
            rows.append([_about(results, name), *(show(each, parse) if each else "" for each in cells)])
    return table(["files", *(tool.title for tool in tools)], rows)


def _about(results: Results, name: str) -> str:
    subject = results.subjects[name]
    files = "file" if subject.files == 1 else "files"
    return f"{subject.title}: {thousands(subject.files)} {files}, {thousands(subject.lines)} lines"


def peers_cpu(results: Results) -> str:
    """CPU seconds, in times of what parsing takes; of parsing the seconds."""
    return _peers(results, lambda each, parse: f"{figure(each.cpu)} s" if each is parse else times(each.cpu, parse.cpu))


def peers_wall(results: Results) -> str:
    """Seconds that one waits."""
    return _peers(results, lambda each, _: figure(each.wall))


def peers_peak(results: Results) -> str:
    """Peak memory in MiB."""
    return _peers(results, lambda each, _: mebibytes(each.peak))


def peers_instructions(results: Results) -> str:
    """Instructions in times of those of parsing, or a sentence where they are not counted."""
    if all(each.taken.instructions is None for each in results.of("peers")):
        return "The machine does not let `perf` count instructions, so that there is no table of them."

    def show(each: Taken, parse: Taken) -> str:
        if each.instructions is None or parse.instructions is None:
            return ""
        return f"{each.instructions / 1e9:.1f} G" if each is parse else times(each.instructions, parse.instructions)

    return _peers(results, show)


def times(value: float, unit: float) -> str:
    """How many times as much."""
    return figure(value / unit) if unit else ""


def small_ours(results: Results) -> str:
    """Our commands on one small file."""
    unit = results.get("small", "ours", "tfmemlint", "import libcst")
    nothing = results.get("small", "ours", "python", "pass")
    if unit is None or nothing is None:
        return NOTHING
    rows = []
    for each in results.of("small", "ours"):
        name = {"pass": "`python -c pass`", "import libcst": "`import libcst`"}.get(each.state, each.state)
        cpu = each.taken.cpu
        cells = [milliseconds(cpu), times(cpu, unit.cpu), milliseconds(each.taken.wall), mebibytes(each.taken.peak)]
        rows.append([name, *cells])
    return table(["process", "CPU, ms", "times `import libcst`", "wall, ms", "peak, MiB"], rows)


def small_peers(results: Results) -> str:
    """All tools on one small file."""
    rows = []
    ours = {"plain.py": "check, no TensorFlow", "ten_lines.py": "check, ten lines"}
    for tool in (OURS, RUFF, FLAKE8, WITH_PLUGIN, FIXIT, TORCHFIX, PYLINT):
        names = [("ours", word) if tool is OURS else ("peers", file) for file, word in ours.items()]
        found = [results.get("small", part, tool.name, state) for part, state in names]
        if any(found):
            rows.append([tool.title, *(milliseconds(each.cpu) if each else "" for each in found)])
    return table(["tool", "a file without TensorFlow, CPU ms", "a file with it, CPU ms"], rows)


def states(results: Results, part: str, tools: Sequence[Tool] = (OURS, RUFF, RUFF_ALL)) -> str:
    """Cold, warm and with one file changed: CPU and wall seconds."""
    rows = []
    for tool in tools:
        for state, words in _STATES:
            each = results.get(part, part, tool.name, state)
            if each is not None:
                rows.append([f"{tool.title}, {words}", figure(each.cpu), figure(each.wall), mebibytes(each.peak)])
    return table(["run", "CPU, s", "wall, s", "peak, MiB"], rows)


def tree(results: Results) -> str:
    """The large tree, in times of parsing what we read of it."""
    rows = []
    parse = results.get("tree", "tree", LIBCST.name)
    for each in results.of("tree"):
        words, taken = dict(_STATES)[each.state], each.taken
        cells = [figure(taken.cpu), times(taken.cpu, parse.cpu if parse else 0), figure(taken.wall)]
        rows.append([f"{_TITLES[each.tool]}, {words}", *cells, mebibytes(taken.peak)])
    return table(["run", "CPU, s", "times parsing", "wall, s", "peak of a process, MiB"], rows)


def _jobs(state: str) -> str:
    count = int(state.removeprefix("jobs "))
    return f"{count} process{'es' if count > 1 else ''}"


def jobs(results: Results) -> str:
    """What several processes save."""
    rows = []
    for each in results.of("jobs"):
        alone = results.get("jobs", each.subject, each.tool, "jobs 1")
        saved = times(alone.wall, each.taken.wall) if alone and alone is not each.taken else ""
        name = f"{_TITLES[each.tool]}, {_jobs(each.state)}: {results.subjects[each.subject].title}"
        rows.append([name, figure(each.taken.cpu), figure(each.taken.wall), saved])
    return table(["run", "CPU, s", "wall, s", "times as fast"], rows)


def memory(results: Results, part: str) -> str:
    """Peaks of tfmemlint and of libcst."""
    rows = []
    for name in dict.fromkeys(each.subject for each in results.of(part)):
        parse, ours = (results.get(part, name, tool.name) for tool in (LIBCST, OURS))
        if parse and ours:
            subject = results.subjects[name]
            first = subject.title if part == "memory" else f"{thousands(subject.files)} files"
            peaks = [mebibytes(parse.peak), mebibytes(ours.peak), times(ours.peak, parse.peak)]
            rows.append([first, thousands(subject.lines), *peaks])
    return table(["read", "lines", "libcst, MiB", "tfmemlint, MiB", "times"], rows)


def growth(results: Results) -> str:
    """The largest size of each shape, and how it grew."""
    rows = []
    for shape in scaling.shapes(results):
        ours, parse = shape.points[OURS.name], shape.points[LIBCST.name]
        (lines, cpu), (_, parsed) = ours[-1], parse[-1]
        exponents = ["" if each is None else f"{each:.2f}" for each in map(scaling.exponent, (ours, parse))]
        rows.append([shape.title, thousands(lines), figure(parsed), figure(cpu), times(cpu, parsed), *exponents])
    head = ["program", "lines", "parse, CPU s", "lint, CPU s", "times", "exponent of linting", "of parsing"]
    return table(head, rows)


_PLUGIN_STATES = ((FLAKE8.name, "cold"), (WITH_PLUGIN.name, "cold"), (WITH_PLUGIN.name, "warm"))


def plugin(results: Results) -> str:
    """flake8 alone and with the plugin."""
    rows = []
    for name in dict.fromkeys(each.subject for each in results.of("plugin")):
        alone, *both = (results.get("plugin", name, *each) for each in _PLUGIN_STATES)
        if alone and all(both):
            found = [each.cpu for each in both if each]
            shown = [text for cpu in found for text in (figure(cpu), times(cpu, alone.cpu))]
            rows.append([_about(results, name), figure(alone.cpu), *shown])
    head = ["files", "flake8, CPU s", "with the plugin, CPU s", "times", "nothing changed, CPU s", "times"]
    return table(head, rows)
