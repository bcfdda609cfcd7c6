"""The process in which a part of the probe runs: `python -m tfmemlint.dev.probe.child PART RESULT [ARGUMENT ...]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def tables_of(part: str, arguments: list[str]) -> dict[str, dict[str, Any]]:
    """What the part finds; its modules are imported here, as they import TensorFlow."""
    if part == "names":
        from tfmemlint.dev.probe.tables import name_tables

        return name_tables()
    if part == "effects":
        from tfmemlint.dev.probe.effects import effect_tables

        return effect_tables(arguments)
    if part == "dtypes":
        from tfmemlint.dev.probe.dtypes import dtype_tables

        return dtype_tables()
    if part == "shapes":
        from tfmemlint.dev.probe.shapes import shape_table

        return {"broadcasts": shape_table()}
    if part == "keras":
        from tfmemlint.dev.probe.keras import keras_tables

        return keras_tables(arguments)
    if part == "applications":
        from tfmemlint.dev.probe.keras import application_table

        return {"applications": application_table(arguments)}
    if part == "networks":
        from tfmemlint.dev.probe.networks import network_table

        return {"networks": network_table(arguments)}
    raise SystemExit(f"no such part: {part}")


if __name__ == "__main__":
    found = tables_of(sys.argv[1], sys.argv[3:])
    Path(sys.argv[2]).write_text(json.dumps(found), encoding="utf-8")
