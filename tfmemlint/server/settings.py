"""What the editor sets: `initializationOptions`, and the section `tfmemlint` of its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SECTION = "tfmemlint"
ON_TYPE, ON_SAVE = "onType", "onSave"


@dataclass(frozen=True, slots=True)
class Settings:
    """`config` has keys of a configuration file that hold over those of files, `on_save_only` lints what is saved and
    not what is typed, `estimate` shows what training steps take."""

    config: Mapping[str, Any] = field(default_factory=dict)
    on_save_only: bool = False
    estimate: bool = True


def read(table: Any) -> tuple[Settings, str]:
    """The settings of a table, and a line on the first that cannot be used, which is left out."""
    if isinstance(table, dict) and isinstance(table.get(SECTION), dict):
        table = table[SECTION]
    if table is None:
        return Settings(), ""
    if not isinstance(table, dict):
        return Settings(), f"{SECTION}: the settings are no table"
    wrong = []
    config, run, estimate = table.get("config"), table.get("run"), table.get("estimate")
    if config is not None and not isinstance(config, dict):
        wrong.append(f"{SECTION}.config: a table of keys, as in a configuration file")
        config = None
    if run not in (None, ON_TYPE, ON_SAVE):
        wrong.append(f'{SECTION}.run: "{ON_TYPE}" or "{ON_SAVE}"')
    if estimate not in (None, True, False):
        wrong.append(f"{SECTION}.estimate: true or false")
        estimate = None
    return Settings(config or {}, run == ON_SAVE, estimate is not False), wrong[0] if wrong else ""
