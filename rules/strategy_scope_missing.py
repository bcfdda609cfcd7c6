from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._distributed import built_outside, replicated, trains
from tfmemlint_rules._strategies import (
    MAKES,
    entered_by_hand,
    enters,
    given_by,
    handed_over,
    uses_of_strategy,
    wrap_in_scope,
)

from tfmemlint.api import Call, File, Finding, Fix, Instance, Rule, Safety, Severity, dotted, on_call, once_per_file

ENTRY = ".scope("
SETS = ("tf.distribute.experimental_set_strategy", "tf.estimator.RunConfig", "tf.compat.v1.estimator.RunConfig")

class StrategyScopeMissing(Rule):
    """
    ## What it does
    Reports distribution strategies that are made and never entered, and models that are built outside the scope of
    the program's strategy and then trained.

    ## Why it costs memory
    Without the scope nothing is distributed: model, gradients and activations of the whole batch are on one device,
    while the strategy has taken the memory of all of them.

    ## Fix safety
    Unsafe: with several devices the batch is split over them, and each step's numbers differ in the last digits. It is
    offered where the model is built and compiled by statements that follow each other.

    ## When not to use it
    When the strategy is handed to other modules; then it is not reported.

    ## References
    - https://www.tensorflow.org/guide/distributed_training
    """

    code = "TFM903"
    summary = "a strategy whose scope is not entered trains on one device"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on_call(*MAKES)
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        given = given_by(made, file)
        assign = file.tree.parent(given.node)
        name = None
        if isinstance(assign, cst.Assign) and len(assign.targets) == 1:
            name = dotted(assign.targets[0].target)
        elif not isinstance(assign, cst.Expr):
            return
        uses = uses_of_strategy(name, given, file) if name is not None else []
        if uses is None or any(handed_over(use, file) for use in uses) or any(file.calls(*SETS)):
            return
        if any(enters(use, file) for use in uses):
            if not any(entered_by_hand(use, file) for use in uses):
                yield from self._outside(given, name, file)
        elif trains(made, given, file):
            yield self.finding(
                made,
                file,
                "this strategy is never entered: the model is built and trained on one device; use its scope()",
                fix=_wrap_trained(list(file.calls("tf.keras.Model.fit")), name, given, file),
            )

    def _outside(self, made: Call, name: str | None, file: File) -> Iterator[Finding]:
        """The models that are trained and the optimizers that are compiled, made beside the strategy's scope."""
        home = file.contexts.function(made.node)
        for fit in _fits(file).get(id(home), ()):
            built = built_outside(fit, made, file)
            if built is not None:
                yield self.finding(
                    built,
                    file,
                    "this model is built outside the strategy's scope: it is trained on one device",
                    fix=wrap_in_scope(built, name, made, file) if name is not None else None,
                    related=[(made, "the strategy")],
                )
        for optimizer in _optimizers(file).get(id(home), ()):
            yield self._optimizer(optimizer, made, file)

    def _optimizer(self, optimizer: Call, made: Call, file: File) -> Finding:
        return self.finding(
            optimizer,
            file,
            "this optimizer is made outside the strategy's scope: training raises RuntimeError",
            related=[(made, "the strategy")],
        )


@once_per_file
def _fits(file: File) -> dict[int, list[Call]]:
    """The calls of `fit`, by the function (its id) in which they stand."""
    found: dict[int, list[Call]] = {}
    for fit in file.calls("tf.keras.Model.fit"):
        found.setdefault(id(file.contexts.function(fit.node)), []).append(fit)
    return found


@once_per_file
def _optimizers(file: File) -> dict[int, list[Call]]:
    """The optimizers that are made outside of every `with` and used inside a scope, by the function that makes them."""
    made: list[Call] = []
    for compiled in file.calls("tf.keras.Model.compile"):
        optimizer = compiled.value_of("optimizer")
        of = optimizer.call if isinstance(optimizer, Instance) else None
        if of is not None and (of.name or "").startswith("tf.keras.optimizers."):
            around = (item.item for block in file.contexts.withs(compiled.node) for item in block.items)
            made += [of] if any(ENTRY in file.text(entered) for entered in around) else []
    for applied in file.calls("tf.keras.optimizers.Optimizer.apply_gradients"):
        of = applied.receiver.call if isinstance(applied.receiver, Instance) else None
        made += [of] if of is not None and replicated(applied.node, file) else []
    found: dict[int, list[Call]] = {}
    for call in made:
        if not any(True for _ in file.contexts.withs(call.node)):
            found.setdefault(id(file.contexts.function(call.node)), []).append(call)
    return found


def _wrap_trained(fits: list[Call], name: str | None, made: Call, file: File) -> Fix | None:
    """Build the one model that is trained in the scope, where it is built beside the strategy."""
    built = built_outside(fits[0], made, file) if len(fits) == 1 else None
    return wrap_in_scope(built, name, made, file) if built is not None and name is not None else None
