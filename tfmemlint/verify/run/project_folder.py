"""A project in the folder of a run: some modules in other words, and links to all else that lies beside them.

So imports work as they are written, whatever the layout, and a module that nobody has cut is the project's own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Sequence
from pathlib import Path

PROJECT = "tfmemlint-project"
"""The name of the folder."""

MOST_ENTRIES = 5_000
"""Entries of one folder that are linked."""

ABOVE = 3
"""Folders above that of a program in which its files are looked for."""

NOT_LINKED = ("__pycache__",)
"""What Python has compiled of modules that are in other words now."""


def lay_out(root: str, modules: Sequence[tuple[str, str]], folders: Sequence[str], work: str) -> list[str]:
    """Write the modules, whose paths begin at the folder `root`, and link what lies beside them; the folders of
    `sys.path` as they are then. Raises ValueError for a path that leads out of the project."""
    if not modules:
        return list(folders)
    top = os.path.join(work, PROJECT)
    texts = {_inside(path): text for path, text in modules}
    made = {os.path.relpath(folder, root) for folder in folders if _is_below(folder, root)}
    made |= {os.path.dirname(path) or os.curdir for path in texts}
    made |= {above for folder in made for above in _upwards(folder)}
    for folder in sorted(made):
        os.makedirs(os.path.join(top, folder), exist_ok=True)
    for path, text in texts.items():
        with open(os.path.join(top, path), "w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            file.write(text)
    for folder in sorted(made):
        link_entries(os.path.join(root, folder), os.path.normpath(os.path.join(top, folder)), NOT_LINKED)
    return [
        os.path.normpath(os.path.join(top, os.path.relpath(folder, root))) if _is_below(folder, root) else folder
        for folder in folders
    ]


def link_entries(folder: str, work: str, left_out: Collection[str]) -> None:
    """Let paths that begin in the folder `work` find what lies in another one."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            target = os.path.join(work, entry.name)
            if number < MOST_ENTRIES and not os.path.lexists(target) and entry.name not in left_out:
                os.symlink(os.path.abspath(entry.path), target)


def _is_below(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(os.path.join(root, ""))


def _inside(path: str) -> str:
    plain = os.path.normpath(path)
    if os.path.isabs(plain) or plain.split(os.sep)[0] == os.pardir:
        raise ValueError(f"{path} leads out of the project")
    return plain


def _upwards(folder: str) -> list[str]:
    """The folder and those above it, down from the project's own."""
    parts = [] if folder == os.curdir else folder.split(os.sep)
    return [os.curdir, *(os.path.join(*parts[: count + 1]) for count in range(len(parts)))]


def started_in(folder: str | None, root: str) -> list[str]:
    """The folders that a user may start a program of this folder in: its own and those above it, up to the project's,
    which `root` names if there is one."""
    if folder is None:
        return []
    own = Path(os.path.abspath(folder))
    found = [each for each in (own, *own.parents[:ABOVE]) if not root or each.is_relative_to(root)]
    return [str(each) for each in found]
