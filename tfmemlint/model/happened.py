"""What has happened when the program reaches a place, and where several of its paths meet."""

from __future__ import annotations

from dataclasses import dataclass

from tfmemlint.syntax.tree import Node


@dataclass(frozen=True, slots=True, eq=False)
class Happened:
    """An effect that has happened when a place is reached: on every path (`certain`) or on some."""

    label: str
    node: Node
    certain: bool


State = dict[str, Happened]


def join(states: list[State | None]) -> State | None:
    """What happened where paths meet: certain only if certain on each."""
    alive = [state for state in states if state is not None]
    if not alive:
        return None
    joined: State = {}
    for state in alive:
        for label, happened in state.items():
            everywhere = all(label in other and other[label].certain for other in alive)
            joined.setdefault(label, Happened(label, happened.node, everywhere))
    return joined


def added(state: State, done: State) -> State:
    """What has happened after code that, whatever happened before, does some more."""
    stays = {label for label in done if label in state and (state[label].certain or not done[label].certain)}
    return {**state, **{label: each for label, each in done.items() if label not in stays}}
