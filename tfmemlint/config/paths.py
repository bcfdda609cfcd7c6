"""Where the paths of a configuration may lead: what a repository brings must not choose where else we write."""

from __future__ import annotations

import os
from collections.abc import Collection

from tfmemlint.units import shortened

_LONGEST = 4096
"""Characters of a path; no system that we know takes longer ones."""


def wrong_path(name: str, value: str | None, folder: str, named: Collection[str]) -> str:
    """Why a path cannot be used, or an empty text. `folder` is the directory of the configuration file, and `named`
    has the fields that the command line sets, whose paths may lead anywhere."""
    if not value:
        return ""
    if "\0" in value or len(value) > _LONGEST:
        return f"{shortened(repr(value))} is no path"
    if name != "cache_dir" or name in named:
        return ""
    steps = steps_below(folder, os.path.join(folder, os.path.expanduser(value)))
    if not steps or ".git" in map(str.lower, steps):
        return f"{value!r} must be a folder below this file's directory; --cache-dir may lead anywhere"
    return ""


def is_below(path: str, place: str) -> bool:
    """Whether a path is that of a place or of something below it. Links are not looked at."""
    return path == place or path.startswith(place.rstrip(os.sep) + os.sep)


def leads_away(path: str) -> bool:
    """Whether a file to write that the user named lies elsewhere than its name says, because of a link.

    The user names a file in a project, and what the project brought may have made a link of it. `/dev/stdout` and the
    like are links by nature.
    """
    full, here = os.path.abspath(path), os.getcwd()
    real, folder = os.path.realpath(full), os.path.realpath(os.path.dirname(full))
    if is_below(full, here) and not is_below(real, os.path.realpath(here)):
        return True
    if not os.path.islink(full) or is_below(folder, "/dev") or is_below(folder, "/proc"):
        return False
    return not is_below(real, folder)


def steps_below(folder: str, path: str) -> tuple[str, ...]:
    """The steps from a folder to a path, both absolute; none where it is not below. Links are not looked at."""
    try:
        parts = os.path.relpath(path, folder).split(os.sep)
    except ValueError:  # another drive
        return ()
    return () if parts[0] in (os.pardir, os.curdir) else tuple(parts)
