"""Objects of few methods that rules ask about: how processes start, PyTorch's devices, tensor arrays, scalers,
studies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfmemlint.model.transfer.table import models
from tfmemlint.model.values import Api, Array, Const, Instance, Method, Unknown, Value

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


SCALERS = tuple(f"sklearn.preprocessing.{name}" for name in ("StandardScaler", "MinMaxScaler", "RobustScaler",
                                                             "MaxAbsScaler", "Normalizer"))  # fmt: skip


@models(*SCALERS)
def _scaler(call: Call, target: Value) -> Value:
    return Instance(call.name or SCALERS[0], call)


@models(*(f"{scaler}.fit" for scaler in SCALERS))
def _fitted(call: Call, target: Value) -> Value:
    return target.receiver if isinstance(target, Method) else Unknown("a scaler")


@models(*(f"{scaler}.{word}" for scaler in SCALERS for word in ("fit_transform", "transform", "inverse_transform")))
def _scaled(call: Call, target: Value) -> Value:
    """Floats keep their dtype; whole numbers, tables and sparse matrices are not followed."""
    data = call.value_of(0) if call.arg(0) is not None else call.value_of("X")
    floats = isinstance(data, Array) and data.dtype in ("float32", "float64")
    return replace(data, library="np") if isinstance(data, Array) and floats else Unknown("scales something not known")


@models("optuna.create_study", "optuna.load_study", "optuna.study.create_study", "optuna.study.load_study")
def _study(call: Call, target: Value) -> Value:
    return Instance("optuna.study.Study", call)
