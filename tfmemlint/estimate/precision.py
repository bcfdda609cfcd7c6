"""Dtype policies: which dtype layers compute in, and the same step under another policy."""

from __future__ import annotations

from dataclasses import replace

from tfmemlint.estimate.step import Applied, Pass, TrainingStep


def compute_dtype(policy: str) -> str:
    """The dtype in which layers compute under a policy: `bfloat16` under `mixed_bfloat16`."""
    return policy.removeprefix("mixed_")


def under(step: TrainingStep, policy: str) -> TrainingStep:
    """The same step under another policy. Layers that were given a dtype of their own keep it."""
    old, new = compute_dtype(step.precision), compute_dtype(policy)

    def changed(applied: Applied) -> Applied:
        inner = changed(applied.inner) if applied.inner is not None else None
        return replace(applied, dtype=new if applied.dtype == old else applied.dtype, inner=inner)

    def through(one: Pass) -> Pass:
        return replace(one, graph=replace(one.graph, applied=tuple(map(changed, one.graph.applied))))

    return replace(step, precision=policy, passes=tuple(map(through, step.passes)))
