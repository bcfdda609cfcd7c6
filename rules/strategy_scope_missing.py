from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._strategy_scope_missing import build_in_scope, is_replaced, models_outside, optimizers_outside

from tfmemlint.api import File, Finding, Rule, Safety, Severity, Shows, knowledge, on, runtime

RAISED = "RuntimeError: Mixing different tf.distribute.Strategy objects"
"""By Keras 3, with one device, too; Keras 2 trains."""


class StrategyScopeMissing(Rule):
    """
    ## What it does
    Reports distribution strategies that are made and never entered though the program trains behind them, and models
    that are built behind a strategy, outside of its scope, and then trained, if no model at all is built in its scope.

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

    @on(runtime.strategies)
    def check(self, strategy: runtime.Strategy, file: File) -> Iterator[Finding]:
        if strategy.leaves or any(file.calls(*knowledge.group("enters_strategy"))):
            return
        if strategy.entered:
            if not strategy.entered_by_hand:
                yield from self._outside(strategy, file)
        elif strategy.trains and not is_replaced(file, strategy):
            models = list(models_outside(file, strategy))
            yield self.finding(
                strategy.made,
                file,
                "this strategy is never entered: the model is built and trained on one device; use its scope()",
                fix=build_in_scope(file, strategy, models[0]) if len(models) == 1 else None,
            )

    def _outside(self, strategy: runtime.Strategy, file: File) -> Iterator[Finding]:
        """The models that are trained and the optimizers that are compiled, made beside the strategy's scope."""
        for model in () if strategy.builds() else models_outside(file, strategy):
            yield self.finding(
                model,
                file,
                "this model is built outside the strategy's scope: it is trained on one device",
                fix=build_in_scope(file, strategy, model),
                related=[(strategy.given, "the strategy")],
            )
        for optimizer in optimizers_outside(file, strategy):
            yield self.finding(
                optimizer,
                file,
                "this optimizer is made outside the strategy's scope: training raises RuntimeError",
                related=[(strategy.given, "the strategy")],
                shows=Shows(RAISED),
            )
