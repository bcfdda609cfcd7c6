"""How statements stand to each other: which exclude each other, what always follows, what a condition holds back."""

from tfmemlint.query.ordering.branches import always_follows, is_condition, leaves, under_condition
from tfmemlint.query.ordering.conditions import (
    asks_name,
    asks_parameter,
    asks_setting,
    asks_type,
    behind_one_condition,
    conditions,
    entered_by_choice,
    is_off_by_default,
    is_switched_off,
    runs_by_choice,
)
from tfmemlint.query.ordering.errors import dropped
from tfmemlint.query.ordering.guards import guarded
from tfmemlint.query.ordering.once import asks_function_of_step, holds_first, in_script, runs_always, runs_once
from tfmemlint.query.ordering.order import exclusive, needed_statements, runs_after, written_names

__all__ = [
    "always_follows",
    "asks_function_of_step",
    "asks_name",
    "asks_parameter",
    "asks_setting",
    "asks_type",
    "behind_one_condition",
    "conditions",
    "dropped",
    "entered_by_choice",
    "exclusive",
    "guarded",
    "holds_first",
    "in_script",
    "is_condition",
    "is_off_by_default",
    "is_switched_off",
    "leaves",
    "needed_statements",
    "runs_after",
    "runs_always",
    "runs_by_choice",
    "runs_once",
    "under_condition",
    "written_names",
]
