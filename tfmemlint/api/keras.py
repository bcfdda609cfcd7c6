"""Keras: what is a model, its layers and weights, dtype policies, and the sessions of version 1."""

from tfmemlint.query.keras.copies import copies_weights
from tfmemlint.query.keras.data_sets import batch_bytes, makes_data_set
from tfmemlint.query.keras.fates import Fate, fate, fits, is_used_up, model_at
from tfmemlint.query.keras.given_weights import is_default, only_runs, takes_given_weights
from tfmemlint.query.keras.labels import class_count, label_arrays, losses
from tfmemlint.query.keras.layers import (
    Applied,
    acts_on_last_axis,
    calls_items,
    in_layer,
    is_first,
    is_layer_output,
    layers_applied,
    layers_in,
    parameters_of,
)
from tfmemlint.query.keras.making import makes_layers, makes_own_model, may_be_loaded, trains, trains_own_model
from tfmemlint.query.keras.models import (
    applies_network,
    clears,
    is_changed,
    is_model,
    loads_model,
    model_loads,
    runs_model,
    saves_model,
)
from tfmemlint.query.keras.networks import (
    activation_bytes,
    gives_probabilities,
    has_several_outputs,
    layers_of,
    may_have_several_outputs,
    output_bytes,
    output_layers,
    parameter_count,
)
from tfmemlint.query.keras.policies import (
    dtype_policy,
    may_build_after,
    policies_set,
    policy_set_after,
    policy_set_before,
    policy_set_in_program,
)
from tfmemlint.query.keras.searches import Trial, given_back, trial_clears, trial_count, trials
from tfmemlint.query.keras.sessions import SESSION, SESSIONS, is_session, left_open, runs_graphs, session_runs
from tfmemlint.query.keras.tokenizers import counted_words
from tfmemlint.query.keras.versions import keras_2, own_engine
from tfmemlint.query.keras.weights import is_frozen, is_optimizer, largest_model, left_bytes, trained_bytes

__all__ = [
    "SESSION",
    "SESSIONS",
    "Applied",
    "Fate",
    "Trial",
    "activation_bytes",
    "acts_on_last_axis",
    "applies_network",
    "batch_bytes",
    "calls_items",
    "class_count",
    "clears",
    "copies_weights",
    "counted_words",
    "dtype_policy",
    "fate",
    "fits",
    "given_back",
    "gives_probabilities",
    "has_several_outputs",
    "in_layer",
    "is_changed",
    "is_default",
    "is_first",
    "is_frozen",
    "is_layer_output",
    "is_model",
    "is_optimizer",
    "is_session",
    "is_used_up",
    "keras_2",
    "label_arrays",
    "largest_model",
    "layers_applied",
    "layers_in",
    "layers_of",
    "left_bytes",
    "left_open",
    "loads_model",
    "losses",
    "makes_data_set",
    "makes_layers",
    "makes_own_model",
    "may_be_loaded",
    "may_build_after",
    "may_have_several_outputs",
    "model_at",
    "model_loads",
    "only_runs",
    "output_bytes",
    "output_layers",
    "own_engine",
    "parameter_count",
    "parameters_of",
    "policies_set",
    "policy_set_after",
    "policy_set_before",
    "policy_set_in_program",
    "runs_graphs",
    "runs_model",
    "saves_model",
    "session_runs",
    "takes_given_weights",
    "trained_bytes",
    "trains",
    "trains_own_model",
    "trial_clears",
    "trial_count",
    "trials",
]
