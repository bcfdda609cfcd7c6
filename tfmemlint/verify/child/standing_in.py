"""Puts in place all that stands in for what a program lacks, and what notes where it does."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def install(program: str, request: dict[str, Any], monitor: Any, load: Callable[[str], Any]) -> Any:
    """The substitutes of a request, with what they have noted; `load` gives a module of this folder. What the program
    asks of its command line is put into the request."""
    made_data = load("made_data").MadeData(request.get("shapes", ()), request.get("rows", ()))
    most = {name: request[name] for name in ("patient", "work") if name in request}
    substitutes = load("substitutes").Substitutes(monitor.mark, made_data, **most)
    substitutes.expect_loop(request.get("source") or "")
    load("surroundings").install(program, request, substitutes, load)
    substitutes.install(load("old_names").rename)
    texts = "\n".join([request.get("source") or "", *request.get("modules", ())])
    load("keras_1").patch(importlib.import_module("keras"), texts, substitutes.note)
    load("iterated").Iterated(monitor.mark, monitor.runtime.live, substitutes).install()
    load("datasets").patch(substitutes.note)
    load("parts").install(lambda: bool(substitutes.rounds["sizes_made_up"]), substitutes.note)
    monitor.calls.install()
    monitor.step_times.install()
    monitor.flagged.install(monitor.arrays)
    usual = load("usual")
    source, arguments = request.get("source") or "", load("arguments")
    wanted = arguments.wanted(source, usual.usual, substitutes.note)
    arguments.complete_click(source, usual.usual, substitutes.note)
    request["argv"] = request.get("argv") or wanted
    stand_ins, text = load("stand_ins"), load("texts").Text
    stand_ins.StandIns(usual.usual, usual.words_of, substitutes.note, text).install()
    if request.get("step"):
        substitutes.step = load("training_step").TrainingStep(program, request["step"], substitutes, load)
        substitutes.step.install(monitor.runtime)
    return substitutes
