"""What was found out of a file is given back when its rules have run, and not when Python next looks for garbage.

A model and its parts refer to each other, so that nothing of one is free before the collector comes to it. That is made
to wait (`lint.recursion`), as it looks at all trees that are kept, too: hundreds of models would wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.model.file import File

_PARTS = "tfmemlint.model."
"""Where the classes stand whose objects belong to one file alone; trees and modules of the project may be kept."""


def let_go(file: File) -> None:
    """Forget all that a model knows, which nobody may ask after that."""
    for part in [*vars(file).values(), file]:
        if type(part).__module__.startswith(_PARTS) and hasattr(part, "__dict__"):
            vars(part).clear()
