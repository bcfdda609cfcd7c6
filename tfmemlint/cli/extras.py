"""Packages that a command needs and an installation need not have."""

from __future__ import annotations

import importlib
from typing import Any

from tfmemlint.cli.usage import UsageError


def extra(module: str, extra_name: str, what: str) -> Any:
    """A module of a package that comes with an extra of ours. Raises UsageError, with the command that installs it,
    where it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        package = module.partition(".")[0]
        raise UsageError(
            f"{what} needs {package}, which is not installed: pip install 'tfmemlint[{extra_name}]'"
        ) from None
