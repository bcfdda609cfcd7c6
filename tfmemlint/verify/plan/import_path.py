"""Where the imports of a program lead that lies elsewhere: the folders for `sys.path`, and its package."""

from __future__ import annotations

import os
from collections.abc import Collection

import libcst as cst

from tfmemlint.project.layout import INIT
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.scopes import dotted

MOST_FOLDERS = 24


def dots_in(program: Program) -> int:
    """How many dots the relative imports of a module begin with at the most."""
    return max((len(each.relative) for each in program.tree.of(cst.ImportFrom)), default=0)


def imported_by(program: Program) -> frozenset[str]:
    """The first words of what a module imports by whole names."""
    found = {dotted(alias.name) for each in program.tree.of(cst.Import) for alias in each.names}
    found |= {dotted(each.module) for each in program.tree.of(cst.ImportFrom) if each.module and not each.relative}
    return frozenset(name.partition(".")[0] for name in found if name)


def import_path(
    path: str, root: str | None, dots: int, imported: Collection[str] = ()
) -> tuple[tuple[str, ...], str]:
    """The folders in which a file's imports are looked for, and the package that its relative imports start from, which
    has as many parts as they have dots; `root` is the folder of a project, above which nothing is looked for. Folders
    of packages around it are among them where they hold what is `imported`, as for programs that start there; one that
    is imported by its own name is looked for above it, and no file of that name in it."""
    folder = top = os.path.dirname(path)
    if root is not None and not path.startswith(os.path.join(root, "")):
        root = None
    names: list[str] = []
    around: list[str] = []
    while os.path.exists(os.path.join(top, INIT)) or (root is not None and len(names) < dots and top != root):
        if os.path.dirname(top) == top:
            break
        names.append(os.path.basename(top))
        around.append(top)
        top = os.path.dirname(top)
    # Who imports relatively is imported as a part of a package, and no file of that name beside it is meant.
    folders = [top, folder] if dots and names else [folder, top]
    above = top
    while root is not None and above != root and len(folders) < MOST_FOLDERS and os.path.dirname(above) != above:
        above = os.path.dirname(above)
        folders.append(above)
    if root is not None and os.path.isdir(os.path.join(root, "src")):
        folders.append(os.path.join(root, "src"))
    for each in (folder, *around):
        name = os.path.basename(each)
        if name in imported and each != root:  # the package around the file is meant, and no file in that
            folders.insert(0, os.path.dirname(each))
            if os.path.isfile(os.path.join(each, f"{name}.py")):
                folders = [other for other in folders if other != each]
    folders += (each for each in around if any(_holds(each, name) for name in imported))
    return tuple(dict.fromkeys(folders)), ".".join(reversed(names))


def _holds(folder: str, name: str) -> bool:
    return os.path.isdir(os.path.join(folder, name)) or os.path.isfile(os.path.join(folder, f"{name}.py"))
