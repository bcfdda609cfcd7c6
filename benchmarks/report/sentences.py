"""The sentences of the page that hold figures."""

from __future__ import annotations

from benchmarks.report.tables import NOTHING, figure, milliseconds, thousands, times
from benchmarks.results import Results
from benchmarks.tools import LIBCST, OURS

_PROGRAMS = ("keras", "agents", "models")


def machine(results: Results) -> str:
    """Where it was measured."""
    about = results.machine
    if not about:
        return NOTHING
    versions = ", ".join(f"{name} {version}" for name, version in sorted(results.versions.items()))
    after = f" and {about['load after']} after" if "load after" in about else ""
    quick = "**A try with few files and one turn: its figures say nothing.** " if results.quick else ""
    return (
        f"{quick}Measured on {about['cores']} cores ({about['processor']}) with {about['memory']} of memory, "
        f"{about['system']}, Python {about['python']}; the load was {about['load']} before{after}. "
        f"Versions: {versions}."
    )


def duration(results: Results) -> str:
    """How long the whole measurement took."""
    return f"{round(sum(results.seconds.values()) / 60) or 1} minutes"


def glance(results: Results) -> str:
    """The figures that matter most, one a line; those that were not measured are left out."""
    found = [_programs(results), _one(results, "tests", "unit tests"), _one(results, "large", "very large files")]
    found += [_one(results, "notebooks", "notebooks"), _small(results), _tree(results), _memory(results)]
    return "\n".join(f"- {line}" for line in found if line) or NOTHING


def _ratio(results: Results, name: str) -> float | None:
    ours, parse = (results.get("peers", name, tool.name) for tool in (OURS, LIBCST))
    return ours.cpu / parse.cpu if ours and parse else None


def _programs(results: Results) -> str:
    found = {name: ratio for name in _PROGRAMS if (ratio := _ratio(results, name)) is not None}
    told = [f"{figure(ratio)} on {results.subjects[name].title}" for name, ratio in found.items()]
    return f"Program files, cold, in times of parsing them with libcst: {', '.join(told)}." if told else ""


def _one(results: Results, name: str, words: str) -> str:
    ratio = _ratio(results, name)
    return f"The same of {words}: {figure(ratio)}." if ratio is not None else ""


def _small(results: Results) -> str:
    unit = results.get("small", "ours", OURS.name, "import libcst")
    ten = results.get("small", "ours", OURS.name, "check, ten lines")
    plain = results.get("small", "ours", OURS.name, "check, no TensorFlow")
    nothing = results.get("small", "ours", "python", "pass")
    if not (unit and ten and plain and nothing):
        return ""
    return (
        f"A script of ten lines takes {milliseconds(ten.cpu)} ms from a cold start, {times(ten.cpu, unit.cpu)} times "
        f"`import libcst`; a file without TensorFlow {milliseconds(plain.cpu)} ms, "
        f"{times(plain.cpu, nothing.cpu)} times a Python that does nothing."
    )


def _tree(results: Results) -> str:
    cold, warm, changed = (results.get("tree", "tree", OURS.name, state) for state in ("cold", "warm", "changed"))
    if not (cold and warm and changed):
        return ""
    return (
        f"A tree of {thousands(results.subjects['tree'].lines)} lines takes {figure(cold.cpu)} CPU seconds cold, "
        f"{figure(warm.cpu)} with nothing changed and {figure(changed.cpu)} with one file changed."
    )


def _memory(results: Results) -> str:
    ratios = []
    for name in dict.fromkeys(each.subject for each in results.of("memory")):
        ours, parse = (results.get("memory", name, tool.name) for tool in (OURS, LIBCST))
        if ours and parse:
            ratios.append(ours.peak / parse.peak)
    return f"Peak memory on one file is at most {figure(max(ratios))} times that of parsing it." if ratios else ""


def tree(results: Results) -> str:
    """How large the tree is."""
    if "tree" not in results.subjects:
        return ""
    whole, woken = results.subjects["tree"], results.subjects["tree-woken"]
    return (
        f"{thousands(whole.files)} Python files, {thousands(whole.lines)} lines; {thousands(woken.files)} of them with "
        f"{thousands(woken.lines)} lines name TensorFlow or Keras. Parsing is that of these alone."
    )


def caches(results: Results) -> str:
    """What was read with a cache."""
    if "caches" not in results.subjects:
        return ""
    subject = results.subjects["caches"]
    return f"Read are {thousands(subject.files)} files of {subject.title}, {thousands(subject.lines)} lines."
