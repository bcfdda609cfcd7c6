"""Whether a model that is loaded again is there for more than one run, or must be a fresh one."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, Does, File, Function, Node, Use, calls, dotted, flow, keras, limits, repetition, uses


def is_kept(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether the model is there for more than this run: changed, collected, or put where other code finds it."""
    if found.handler and not found.calls:
        return _put_elsewhere(file, load, found)
    if not found.calls:
        collected = any(use.does is Does.STORE and _is_in_container(use) for use in uses(file, load.node))
        return getattr(found.place, "elt", None) is load.node or collected or keras.is_changed(file, load.node)
    made = found.chain[1] if flow.only_gives_back(file, load.node) else load.node
    home, done = file.contexts.function(made), list(uses(file, made, attributes=True, through=limits.FOLLOWED_CALLS))
    leaves = any(use.does is Does.RETURN or (use.does is Does.STORE and not _is_own(use.place)) for use in done)
    found_elsewhere = any(_is_own(use.node) and file.contexts.function(use.node) is not home for use in done)
    return leaves or found_elsewhere or keras.is_changed(file, made)


def _is_in_container(use: Use) -> bool:
    """Whether a value is put beside others, not in the place of the last one: `models.append(x)`, `models[k] = x`."""
    return use.call is not None or isinstance(use.place, cst.Subscript)


def _is_own(node: Node | None) -> bool:
    """Whether an expression is an attribute of `self`."""
    return node is not None and (dotted(node) or "").startswith("self.")


def _put_elsewhere(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether a request handler stores the model and does not use it: a request to load it anew."""
    does = [(use.does, file.contexts.function(use.node)) for use in uses(file, load.node, attributes=True)]
    stored = any(kind is Does.STORE for kind, _ in does)
    return stored and all(kind is Does.STORE or home is not found.place for kind, home in does)


def needs_fresh(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether what runs again saves a model, may train what is loaded, or gives the file's name to unknown code."""
    given = {file.text(argument.value) for argument in load.node.args if argument.keyword is None}
    home = file.contexts.function(load.node)
    bodies: list[Node] = [found.place, *([home] if found.calls and home is not None else [])]
    for call in (call for body in bodies for call in calls(file, body) if call is not load):
        if any(isinstance(t, Function) and t.node is home for t in call.target.options):
            continue  # it is there to load the model
        if keras.saves_model(file, call) or (keras.trains(call) and not _stands_outside(file, call, bodies)):
            return True
        if call.name is None and any(file.text(argument.value) in given for argument in call.node.args):
            return True
    return False


def _stands_outside(file: File, training: Call, bodies: list[Node]) -> bool:
    """Whether the model that is trained is certainly made outside of all of this code, so that what is loaded in there
    is no part of it."""
    made = flow.makers(training.receiver)
    inside = (file.tree.contains(body, each.node) for body in bodies for each in made)
    return len(made) == len(training.receiver.options) and not any(inside)
