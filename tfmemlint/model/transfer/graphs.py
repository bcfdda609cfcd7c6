"""TensorFlow 1 sessions and distribution strategies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import Instance, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

SESSION = "tf.compat.v1.Session"


@models("tf.Session", "tf.InteractiveSession", SESSION, "tf.compat.v1.InteractiveSession", "tf.train.MonitoredSession",
        "tf.compat.v1.train.MonitoredSession", "tf.compat.v1.keras.backend.get_session", "tf.keras.backend.get_session",
        "tf.train.MonitoredTrainingSession", "tf.compat.v1.train.MonitoredTrainingSession",
        "tf.compat.v1.get_default_session", "tf.get_default_session")  # fmt: skip
def _session(call: Call, target: Value) -> Value:
    return Instance(SESSION, call)


@models("tf.distribute.MirroredStrategy.scope", "tf.distribute.Strategy.scope")
def _scope(call: Call, target: Value) -> Value:
    return Unknown("a strategy's scope")
