"""From the texts of two programs to a plan: how they are run, and what is said of what was made up."""

from __future__ import annotations

import os
import re
from dataclasses import replace

from tfmemlint.finding import Finding, Safety
from tfmemlint.model.file import File
from tfmemlint.query.keras.versions import keras_2
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.plan import device_settings
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.claims import has_contrast
from tfmemlint.verify.plan.composing import Texts
from tfmemlint.verify.plan.examples import Example, ExampleError, read_examples
from tfmemlint.verify.plan.import_path import dots_in, import_path, imported_by
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.slicing import Home
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Program

LISTED = re.compile(r"(\w+)\s*=\s*[\w.]*list_physical_devices\(")
"""What is the list of cards."""


def paired(
    finding: Finding, texts: tuple[Texts, Texts | None], slices: Slices, notes: list[str], claim: Claim, cards: int
) -> Plan:
    """The plan for two programs, which simulate `cards` graphics cards; `notes` say what was made up."""
    before, after = texts
    program = replace(_program(slices, before, cards), raised=claim.error is not None, collects=claim.survives)
    if finding.shows is not None and finding.shows.started:
        program = replace(program, source=device_settings.begun(program.source))
        notes.append(device_settings.STARTED)
    asked_for = max(map(_cards_in, (before.source, *(text for _, text in before.modules))))
    if asked_for and not program.simulated_gpus:
        program = replace(program, simulated_gpus=asked_for)
    if finding.fix is not None and finding.fix.safety is Safety.DISPLAY:
        notes.append("the repair is one that is only shown, never applied")
    if has_contrast(finding):
        notes.append("there is no repair to apply: compared with the same code without what is flagged")
    repaired = None if after is None else replace(program, source=after.source, modules=after.modules)
    return Plan(Pair(program, repaired, tuple(dict.fromkeys(notes))), claim)


def _cards_in(text: str) -> int:
    """How many graphics cards a module asks for: one, or as many as it takes of the list by their places."""
    names = "|".join(map(re.escape, LISTED.findall(text)))
    places = re.findall(rf"\b(?:{names})\[(\d)\]", text) if names else []
    return max((int(place) + 1 for place in places), default=1) if "list_physical_devices" in text else 0


def _program(slices: Slices, texts: Texts, cards: int) -> Program:
    path = slices.path(slices.entry)
    root = slices.siblings.layout.root if slices.siblings is not None and texts.modules else None
    folders, package = import_path(path, root, dots_in(slices.entry), imported_by(slices.entry))
    file = slices.file
    return Program(
        texts.source,
        cards,
        folders,
        os.path.dirname(path),
        package,
        substitute=True,
        root=root or "",
        version_1=file.before_version_2,
        keras_2=keras_2(file),
        file=path,
        modules=texts.modules,
    )


class ExamplesOf:
    """The examples in the comments of each module."""

    def __init__(self, file: File, examples: dict[str, Example]) -> None:
        self._known: dict[int, dict[str, Example]] = {id(file): examples}

    def __call__(self, home: Home) -> dict[str, Example]:
        """Those of one module. Raises PlanError for those that cannot be read."""
        found = self._known.get(id(home))
        if found is None:
            try:
                found = self._known[id(home)] = read_examples(home.source)
            except ExampleError as error:
                raise PlanError(str(error)) from error
        return found
