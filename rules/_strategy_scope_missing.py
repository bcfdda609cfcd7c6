"""What is made beside a strategy's scope and trained, and how it gets into it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Fix, Instance, calls, dotted, fixes, keras, limits, once_per_file, runtime


def is_replaced(file: File, strategy: runtime.Strategy) -> bool:
    """Whether another strategy of the same name and function is entered, as in notebooks that show several."""
    return (_home(file, strategy.given), strategy.name) in _entered_names(file)


@once_per_file
def _entered_names(file: File) -> set[tuple[int, str | None]]:
    found = {
        (_home(file, each.given), each.name) for each in runtime.strategies.of(file) if each.entered or each.leaves
    }
    return {(home, name) for home, name in found if name is not None}


def models_outside(file: File, strategy: runtime.Strategy) -> Iterator[Call]:
    """The calls that make a model behind the strategy in its function, in no `with` at all, which is trained there
    while it is the current strategy."""
    for fit in _fits(file).get(id(strategy), ()):
        receiver = fit.receiver_node
        made = file.only_definition(receiver) if isinstance(receiver, cst.Name) else None
        if made is None or made.path or not isinstance(made.value, cst.Call):
            continue
        call = file.call(made.value)
        behind = file.tree.order(call.node) > file.tree.order(strategy.given.node)
        here = behind and _home(file, call) == _home(file, strategy.given)
        if here and _is_outside(file, call) and _makes_model(file, call):
            yield call


def _home(file: File, call: Call) -> int:
    """The function in which a call stands, by its id."""
    return id(file.contexts.function(call.node))


def _is_outside(file: File, call: Call) -> bool:
    return not any(True for _ in file.contexts.withs(call.node))


def _makes_model(file: File, call: Call) -> bool:
    """Whether a call gives a model, and no function of the module behind it enters a scope."""
    return keras.is_model(file, call.value) and not any(
        calls(file, call.node, "scope", "run", through=limits.FOLLOWED_CALLS)
    )


@once_per_file
def _fits(file: File) -> dict[int, list[Call]]:
    """The calls of `fit`, by the strategy that is current there."""
    found: dict[int, list[Call]] = {}
    for fit in file.calls("tf.keras.Model.fit"):
        strategy = runtime.current_strategy(file, fit.node)
        if strategy is not None:
            found.setdefault(id(strategy), []).append(fit)
    return found


def optimizers_outside(file: File, strategy: runtime.Strategy) -> list[Call]:
    """The calls in the strategy's function that make, in no `with`, an optimizer which is used under a scope. Those of
    Keras 2 make no variables before they are first applied."""
    return [] if keras.keras_2(file) else _optimizers(file).get(_home(file, strategy.given), [])


@once_per_file
def _optimizers(file: File) -> dict[int, list[Call]]:
    compiled = [c.value_of("optimizer") for c in file.calls("tf.keras.Model.compile") if runtime.in_scope(file, c.node)]
    applied = file.calls("tf.keras.optimizers.Optimizer.apply_gradients")
    used = [*compiled, *(call.receiver for call in applied if runtime.is_replicated(file, call.node))]
    found: dict[int, list[Call]] = {}
    for made in (optimizer.call for optimizer in used if isinstance(optimizer, Instance)):
        if made is not None and (made.name or "").startswith("tf.keras.optimizers.") and _is_outside(file, made):
            found.setdefault(_home(file, made), []).append(made)
    return found


def build_in_scope(file: File, strategy: runtime.Strategy, built: Call) -> Fix | None:
    """Put the statements from the model's own to the one that compiles it into `with strategy.scope():`."""
    first, start = file.tree.statement(built.node), file.tree.statement(strategy.given.node)
    block, assign = file.tree.parent(first), file.tree.parent(built.node)
    model = dotted(assign.targets[0].target) if isinstance(assign, cst.Assign) else None
    behind = file.tree.parent(start) is block and file.tree.order(start) < file.tree.order(first)
    if model is None or strategy.name is None or not behind:
        return None
    body = list(getattr(block, "body", ()))
    at = body.index(first)
    compiles = [node for node in file.calls_by_word.get("compile", ()) if dotted(node.func) == f"{model}.compile"]
    statements = [file.tree.statement(node) for node in compiles]
    last = next((i for i in range(at, len(body)) if any(body[i] is each for each in statements)), at)
    edit = fixes.wrap_in_block(file, body[at : last + 1], f"with {strategy.name}.scope()")
    return Fix.unsafe("build it in the scope", edit)
