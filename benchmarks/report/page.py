"""The page, its pictures and nothing that the results do not say."""

from __future__ import annotations

from pathlib import Path
from string import Template

from benchmarks import corpora, growth, tools
from benchmarks.environments import PINNED
from benchmarks.report import sentences, tables
from benchmarks.report.pictures import pictures
from benchmarks.results import Results

TEMPLATE = Path(__file__).with_name("page.md")
FOLDER = "performance"
"""Where the pictures lie, beside the page."""


def write_page(results: Results, out: Path, *, check: bool = False) -> list[Path]:
    """Write `performance.md` and its pictures into `out`. Returns those that differed; with `check` they stay as they
    are."""
    drawn = pictures(results)
    wanted = {out / "performance.md": page(results, sorted(drawn))}
    wanted |= {out / FOLDER / name: text for name, text in drawn.items()}
    changed = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in () if check else changed:
        path.parent.mkdir(exist_ok=True)
        path.write_text(wanted[path], "utf-8")
    return changed


def page(results: Results, drawn: list[str]) -> str:
    """The text of the page."""
    filled = {
        **{f"picture_{name[:-4]}": f"![{what}]({FOLDER}/{name})" * (name in drawn) for name, what in _PICTURES.items()},
        "machine": sentences.machine(results),
        "glance": sentences.glance(results),
        "peers_cpu": tables.peers_cpu(results),
        "peers_wall": tables.peers_wall(results),
        "peers_peak": tables.peers_peak(results),
        "peers_instructions": tables.peers_instructions(results),
        "small_ours": tables.small_ours(results),
        "small_peers": tables.small_peers(results),
        "about_caches": sentences.caches(results),
        "caches": tables.states(results, "caches"),
        "about_tree": sentences.tree(results),
        "tree": tables.tree(results),
        "jobs": tables.jobs(results),
        "memory": tables.memory(results, "memory"),
        "memory_tree": tables.memory(results, "memory-tree"),
        "growth": tables.growth(results),
        "plugin": tables.plugin(results),
        "duration": sentences.duration(results),
        **_settings(),
    }
    return Template(TEMPLATE.read_text("utf-8")).substitute(filled).replace("\n\n\n", "\n\n")


_PICTURES = {
    "peers.svg": "Dots on a logarithmic axis: the CPU time of each tool in times of parsing",
    "scaling.svg": "CPU seconds by lines, for programs that are much of one thing",
    "memory.svg": "Peak memory by the lines that one process reads",
}


def _settings() -> dict[str, str]:
    """What the measurement was told to do, from where it is told."""
    return {
        "packages": ", ".join(f"`{each}`" for each in corpora.PACKAGES.values()),
        "tools": ", ".join(f"`{each}`" for packages in PINNED.values() for each in packages),
        "large": tables.thousands(corpora.LARGE),
        "growth_lines": tables.thousands(growth.LINES),
        "fixit_lines": tables.thousands(tools.FIXIT.most_lines or 0),
        "torchfix_lines": tables.thousands(tools.TORCHFIX.most_lines or 0),
        "pylint_lines": tables.thousands(tools.PYLINT.most_lines or 0),
    }
