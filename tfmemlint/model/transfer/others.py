"""Objects of few methods that rules ask about: how processes start, PyTorch's devices, tensor arrays, studies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import Api, Const, Instance, Method, Unknown, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call


@models("multiprocessing.get_context")
def _context(call: Call, target: Value) -> Value:
    """The context that forks has the functions of the module; another one is not followed."""
    forks = not call.node.args or call.value_of(0) in (Const("fork"), Const(None))
    return Api("multiprocessing") if forks else Unknown("another start method than fork")


@models("torch.device")
def _torch_device(call: Call, target: Value) -> Value:
    return Instance("torch.device", call)


@models(*(f"tf.TensorArray.{name}" for name in ("write", "scatter", "split", "unstack", "identity")))
def _tensor_array(call: Call, target: Value) -> Value:
    """The array goes on under what these give."""
    return target.receiver if isinstance(target, Method) else Instance("tf.TensorArray", call)


@models("optuna.create_study", "optuna.load_study", "optuna.study.create_study", "optuna.study.load_study")
def _study(call: Call, target: Value) -> Value:
    return Instance("optuna.study.Study", call)
