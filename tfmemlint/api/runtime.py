"""TensorFlow's runtime: what starts it, its devices and their settings, strategies, and who else uses the card."""

from tfmemlint.query.runtime.devices import (
    changes_nothing,
    chooses_devices,
    for_one_gpu,
    hides_cards,
    only_gpus,
    others_grow_too,
    sets_growth,
    sets_limit,
    stops_growth,
)
from tfmemlint.query.runtime.environment import (
    Setting,
    forces_growth,
    given_to_children,
    mentions_variable,
    settings,
)
from tfmemlint.query.runtime.gpu_libraries import Allocation, gpu_allocations
from tfmemlint.query.runtime.processes import forks, runs_no_op
from tfmemlint.query.runtime.replicas import is_for_all, multiplied_twice, share_of
from tfmemlint.query.runtime.runtime import (
    builds_graphs,
    computing_calls,
    devices_made_at_import,
    devices_made_by,
    goes_on_elsewhere,
    initialised_by,
    initialises,
    turns_eager_off,
)
from tfmemlint.query.runtime.session_options import names_memory_options, session_limits_memory
from tfmemlint.query.runtime.strategies import Strategy, current_strategy, in_scope, is_replicated, strategies

__all__ = [
    "Allocation",
    "Setting",
    "Strategy",
    "builds_graphs",
    "changes_nothing",
    "chooses_devices",
    "computing_calls",
    "current_strategy",
    "devices_made_at_import",
    "devices_made_by",
    "for_one_gpu",
    "forces_growth",
    "forks",
    "given_to_children",
    "goes_on_elsewhere",
    "gpu_allocations",
    "hides_cards",
    "in_scope",
    "initialised_by",
    "initialises",
    "is_for_all",
    "is_replicated",
    "mentions_variable",
    "multiplied_twice",
    "names_memory_options",
    "only_gpus",
    "others_grow_too",
    "runs_no_op",
    "session_limits_memory",
    "sets_growth",
    "sets_limit",
    "settings",
    "share_of",
    "stops_growth",
    "strategies",
    "turns_eager_off",
]
