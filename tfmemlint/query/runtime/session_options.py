"""What the options of a session of version 1 say about memory and devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Instance
from tfmemlint.query.flow.uses import uses

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

OF_MEMORY = frozenset({"gpu_options", "device_count"})
"""Options of a session that say something about memory or devices, not only about placement or logging."""


def session_limits_memory(file: File, session: Call) -> bool:
    """Whether the options that a session is given say something about memory or devices; of options that are made
    nobody sees where, whether the file says any. False for a session without options."""
    config = session.arg("config")
    if config is None:
        return False
    made = [option.call for option in config.value.options if isinstance(option, Instance) and option.call is not None]
    if not made or len(made) < len(config.value.options) or any(call.method != "ConfigProto" for call in made):
        return names_memory_options(file)  # made elsewhere: by one of these, if at all
    passed = [arg.keyword.value for call in made for arg in call.node.args if arg.keyword is not None]
    later = [use.word for call in made for use in uses(file, call.node)]
    return not OF_MEMORY.isdisjoint((*passed, *later))


@once_per_file
def names_memory_options(file: File) -> bool:
    """Whether a file passes or sets an option of sessions that says something about memory or devices, whichever
    session it is for: `gpu_options`, `device_count`."""
    given = (arg.keyword.value for arg in file.tree.of(cst.Arg) if arg.keyword is not None)
    written = (node.attr.value for node in file.tree.of(cst.Attribute))
    return not OF_MEMORY.isdisjoint((*given, *written))
