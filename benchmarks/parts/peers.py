"""Each tool on the same files, cold, in one process where it can be told to."""

from __future__ import annotations

from benchmarks.corpora import Files
from benchmarks.parts import Plan
from benchmarks.processes import Command, in_turns
from benchmarks.results import Results
from benchmarks.subjects import as_programs, told_to_be_python, with_marker
from benchmarks.tools import PEERS, Tool

NAMES = ("peers",)
"""The parts of the results that are written here."""


def measure(plan: Plan, results: Results) -> None:
    """One table: a row for each subject, a column for each tool."""
    for name, files in plan.files.items():
        results.about(files)
        tools = [tool for tool in PEERS if plan.tools.has(tool) and _takes(plan, tool, files)]
        commands = {(tool.name, "cold"): _command(plan, tool, files) for tool in tools}
        results.add("peers", name, in_turns(commands, plan.turns))


def _takes(plan: Plan, tool: Tool, files: Files) -> bool:
    if tool.most_lines is None:
        return True
    return files.lines <= tool.most_lines and (files.name == "small" or not plan.quick)


def _command(plan: Plan, tool: Tool, files: Files) -> Command:
    given = files
    if files.name == "notebooks" and tool.notebooks == "none":
        given = as_programs(files, plan.work / "programs")
    elif files.name == "notebooks" and tool.notebooks == "told":
        given = told_to_be_python(files, plan.work / "notebooks-told")
    if tool.marker:
        given = with_marker(given, plan.work / "marked" / files.name, tool.marker)
    return plan.tools.command(tool, given.words, given.root)
