"""Keras' global dtype policy: what a call sets, which one is set at a place, and what forgets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.calls import Call
from tfmemlint.model.values import Const, Instance
from tfmemlint.query.calls import calls
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def dtype_policy(call: Call) -> str | None:
    """The dtype that a call which sets a policy or `floatx` is given, as text or inside a policy object
    (`"mixed_float16"`); None where it is not known."""
    value = call.value_of(0) if call.arg(0) is not None else call.given("policy", "value")
    if isinstance(value, Instance) and value.call is not None and (value.type_name or "").endswith("Policy"):
        value = value.call.value_of(0) if value.call.arg(0) is not None else value.call.given("name")
    return value.value if isinstance(value, Const) and isinstance(value.value, str) else None


def policy_set_before(file: File, node: Node, *policies: str) -> Call | None:
    """The call that set one of these policies before a node runs, on every path to it; None where that is not certain.

    Other policies that were set in between are not looked at.
    """

    def classify(effect: Call | cst.BaseSmallStatement) -> str | None:
        sets = isinstance(effect, Call) and knowledge.in_group(effect.name, "sets_dtype_policy")
        return "set" if sets and isinstance(effect, Call) and dtype_policy(effect) in policies else None

    happened = file.effects.order(" ".join(("dtype policy", *policies)), classify).before(node, "set")
    setting = happened.node if happened is not None and happened.certain else None
    return file.call(setting) if isinstance(setting, cst.Call) else None


def policy_set_after(file: File, node: Node) -> bool:
    """Whether a policy is set after a node in the same loop, function, class or module, or in a function that is
    called there. False says that none is seen."""
    scope = file.scope_of(node)
    around = file.contexts.loop(node) or (scope.body if isinstance(scope, cst.ClassDef) else scope)
    start, policies = file.tree.order(node), knowledge.group("sets_dtype_policy")
    later = (call for call in calls(file, around) if file.tree.order(call.node) > start)
    return any(any(calls(file, call.node, *policies, through=FOLLOWED_CALLS)) for call in later)


def policies_set(file: File) -> Iterator[Call]:
    """All calls that set a dtype policy or `floatx`."""
    return file.calls(*knowledge.group("sets_dtype_policy"), *knowledge.group("sets_floatx"))


def policy_set_in_program(file: File) -> bool:
    """Whether this file, or a module that it imports, sets a dtype policy or `floatx`, wherever it does."""
    return any(file.calls_within_reach(*knowledge.group("sets_dtype_policy"), *knowledge.group("sets_floatx")))
