"""The training steps of a file: all that its code comes to as a program, and those of functions that it never calls."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.estimate.facts import objects, stepping
from tfmemlint.estimate.facts.given import Given
from tfmemlint.estimate.facts.machine import Machine, TooMuchWork
from tfmemlint.estimate.facts.values import Closure, Env, Kind, api_above
from tfmemlint.estimate.step import Applied, Graph, Pass, TrainingStep

if TYPE_CHECKING:
    from tfmemlint.model.file import File

WORDS = ("fit", "fit_generator", "train_on_batch", "predict", "predict_generator", "predict_on_batch",
         "apply_gradients", "minimize")  # fmt: skip
"""Calls without which nothing is trained or asked, but for the `apply` of an optimizer."""

APPLY, GRADIENT = "apply", "gradient"
"""Many things have an `apply`: only where gradients are taken may it be that of an optimizer."""


@dataclass(frozen=True, slots=True)
class Followed:
    """The steps of a file by line, and the expressions of which it needed what the user says of them."""

    steps: list[TrainingStep] = field(default_factory=list)
    used: frozenset[str] = frozenset()


def steps(file: File, given: Given = Given()) -> list[TrainingStep]:  # noqa: B008  (it is frozen)
    """The steps that a file trains with, and the batches that it predicts, by line. What `given` says fills what the
    program leaves open."""
    return follow(file, given).steps


def follow(file: File, given: Given) -> Followed:
    """The same, with what of `given` was needed."""
    programs = (file, *file.within_reach)
    if not any(program.calls_by_word.get(word) for program in programs for word in (*WORDS, GRADIENT)):
        return Followed()
    machine = Machine(file, given)
    env = Env()
    machine.modules[id(file)] = env
    with contextlib.suppress(TooMuchWork, RecursionError):
        machine.run_module(file.module, env, "__main__")
        stepping.left(machine, 0)
    if not any(each.passes for each in machine.events):
        machine.again()
    with contextlib.suppress(TooMuchWork, RecursionError):
        _uncalled(machine, env)
    return Followed(_once(machine.events), frozenset(machine.used))


def _uncalled(machine: Machine, env: Env) -> None:
    """Follow the functions that train and that nothing of the file calls, with what they do by default: the outermost
    one, and where that does not come to the call, those in it."""
    calls = machine.file.calls_by_word
    words = (*WORDS, APPLY) if GRADIENT in calls else WORDS
    wanted = [node for word in words for node in calls.get(word, ())]
    for node in sorted(wanted, key=machine.file.tree.order):
        if id(node) in machine.reached or not machine.file.is_own(node):
            continue
        chain: list[cst.CSTNode] = [
            each for each in machine.file.tree.ancestors(node) if isinstance(each, (cst.FunctionDef, cst.ClassDef))
        ]
        around: Env | None = env
        while chain and around is not None and id(node) not in machine.reached:
            start = len(machine.taken)
            _entered(machine, chain[::-1], around)
            stepping.left(machine, start)
            followed = chain.pop()
            if isinstance(followed, cst.ClassDef) and chain:
                followed = chain.pop()
            around = machine.within.get(id(followed))


def _entered(machine: Machine, chain: list[cst.CSTNode], env: Env) -> None:
    """Call the function at the beginning of a chain of definitions, or a method of an object of the class there."""
    first = chain[0]
    assert isinstance(first, (cst.FunctionDef, cst.ClassDef))
    found = env.names.get(first.name.value)
    if isinstance(found, Closure) and found.node is first:
        machine.run(found, (), {}, None)
    elif isinstance(found, Kind) and found.node is first and len(chain) > 1:
        method = chain[1]
        assert isinstance(method, (cst.FunctionDef, cst.ClassDef))
        own = found.env.names.get(method.name.value)
        if isinstance(own, Closure) and own.node is method:
            made = objects.new(machine, api_above(found), None, found)
            init = machine.method(found, "__init__")
            if init is not None and init[0] is not own:
                machine.run(objects.with_receiver(init[0], made), (), {}, None)
            machine.run(objects.with_receiver(own, made), (), {}, None)


def _once(found: list[TrainingStep]) -> list[TrainingStep]:
    """Steps with layers and tensors numbered from one, each once. Of several models that one call may train, those of
    which no layer is known are left out: mostly they are loaded, and were made as the others are."""
    kept: dict[str, TrainingStep] = {}
    for each in map(_numbered, found):
        kept.setdefault(repr(each), each)
    known = {each.line for each in kept.values() if each.passes}
    told = [each for each in kept.values() if each.passes or each.line not in known]
    return sorted(told, key=lambda step: step.line)


def _numbered(step: TrainingStep) -> TrainingStep:
    tensors: dict[int, int] = {}
    layers: dict[int, int] = {}

    def numbers(several: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(tensors.setdefault(number, len(tensors)) for number in several)

    def layer(applied: Applied) -> Applied:
        return replace(
            applied, layer=layers.setdefault(applied.layer, len(layers)), inputs=numbers(applied.inputs),
            outputs=numbers(applied.outputs), inner=layer(applied.inner) if applied.inner is not None else None,
        )  # fmt: skip

    passes = []
    for each in step.passes:
        inputs = numbers(each.graph.inputs)
        applied = tuple(map(layer, each.graph.applied))
        outputs = numbers(each.graph.outputs)
        of = {tensors[number]: found for number, found in each.graph.tensors.items() if number in tensors}
        frozen = frozenset(layers[number] for number in each.frozen if number in layers)
        passes.append(Pass(Graph(of, applied, inputs, outputs), each.losses, each.optimizer, each.backward, frozen))
    return replace(step, passes=tuple(passes))
