"""What is put around a flagged call, so that a program tells what that call makes."""

from __future__ import annotations

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.model.file import File
from tfmemlint.model.values import Array
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.metrics import ANEW, BETWEEN, COPIES, GIVEN, WRAPPED
from tfmemlint.verify.plan.composing import Composer
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.statements import flagged_call, flagged_loop

LOOK, CONSUME, USED = "tfmemlint_look(", "tfmemlint_consume(", "tfmemlint_given("


EMBEDS = ("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensors")
"""Calls that copy the arrays which they are given into what they make."""


def is_made_there(finding: Finding, file: File) -> bool:
    """Whether the bytes of the message are those of the one array that the flagged call makes, or of the arrays that it
    copies into a data set."""
    call = flagged_call(finding, file)
    if call is not None and finding.bytes is not None and file.call(call).name in EMBEDS:
        return True
    value = file.value(call) if call is not None else None
    return isinstance(value, Array) and value.bytes is not None and value.bytes == finding.bytes


def put_around(composer: Composer, finding: Finding, file: File, claim: Claim, flagged: Node) -> None:
    """Put what tells of the flagged statement around it, or around the call in it. Raises PlanError."""
    if claim.metric in WRAPPED:
        composer.wrap(*wrapped(finding, file, claim))
    if claim.metric in BETWEEN:
        composer.between(flagged, "tfmemlint_begin()", "tfmemlint_end(", ")")
    if claim.timed and _is_changed_in_place(finding, file, flagged):
        composer.between(flagged, "tfmemlint_clock()", "tfmemlint_clocked(", ")")


def _is_changed_in_place(finding: Finding, file: File, flagged: Node) -> bool:
    """Whether the flagged statement is the one that is changed, and stays a statement: its time can be taken before and
    after."""
    span = file.span(flagged)
    inside = all(span.start < edit.start and edit.end <= span.end for edit in finding.compared)
    return bool(finding.compared) and inside and isinstance(flagged, cst.SimpleStatementLine)


def wrapped(finding: Finding, file: File, claim: Claim) -> tuple[cst.BaseExpression, str, str]:
    """The flagged call, what is called there, or what a flagged loop goes through, with what stands before and behind
    it. Raises PlanError where the finding is about none."""
    call = flagged_call(finding, file)
    loop = flagged_loop(finding, file) if call is None and claim.metric == "eager_runs" else None
    if loop is not None:
        return loop.iter, "tfmemlint_each(", ")"
    if call is None:
        raise PlanError("the finding is about no call")
    if claim.metric in ANEW:
        return call, "tfmemlint_anew(lambda: (", "))"
    if claim.metric in COPIES:
        return call, "tfmemlint_joined(", ")"
    if claim.metric in GIVEN:
        return call.func, "tfmemlint_wide(", ")"
    if claim.metric == "parameters":
        return call, "tfmemlint_layer(", ")"
    return call, "tfmemlint_taken(lambda: (", f"), {claim.expected})"
