"""What runs again and again, how often, and what is another in each iteration or the same."""

from tfmemlint.query.repetition.accumulating import Accumulated, accumulated, names_of
from tfmemlint.query.repetition.accumulating_methods import loop_around_method
from tfmemlint.query.repetition.batches import batch_loops, over_batches
from tfmemlint.query.repetition.changing import changes_with, differs, made_anew
from tfmemlint.query.repetition.changing_shapes import resizes
from tfmemlint.query.repetition.collected import joined_to_return, only_averaged, read_as_tensors, traced_with
from tfmemlint.query.repetition.counts import called_view, items_in
from tfmemlint.query.repetition.feedback import feeds_back
from tfmemlint.query.repetition.growing_data import GrowingData, growing_data
from tfmemlint.query.repetition.imported import imported_calls, imported_functions_given_to
from tfmemlint.query.repetition.invariance import bound_anew, definitions_of, passes_unchanging, unchanging
from tfmemlint.query.repetition.items import is_filled_by, is_rare, item_loop
from tfmemlint.query.repetition.iterators import IteratorPerStep, iterators_per_step
from tfmemlint.query.repetition.mutation import mutates
from tfmemlint.query.repetition.purity import draws_itself, pure
from tfmemlint.query.repetition.read_data import data_reads, trains_in
from tfmemlint.query.repetition.rebuilt import rebuilt, rewritten, runs_alike
from tfmemlint.query.repetition.repeats import Repetition, repeated_calls, repeats, repetitions
from tfmemlint.query.repetition.row_loops import over_rows
from tfmemlint.query.repetition.same_calls import same_arguments
from tfmemlint.query.repetition.seldom import once_in, runs_at_most, runs_in_all, seen_runs
from tfmemlint.query.repetition.step_data import step_names
from tfmemlint.query.repetition.steps import Runs, StepFunction, step_functions

__all__ = [
    "Accumulated",
    "GrowingData",
    "IteratorPerStep",
    "Repetition",
    "Runs",
    "StepFunction",
    "accumulated",
    "batch_loops",
    "bound_anew",
    "called_view",
    "changes_with",
    "data_reads",
    "definitions_of",
    "differs",
    "draws_itself",
    "feeds_back",
    "growing_data",
    "imported_calls",
    "imported_functions_given_to",
    "is_filled_by",
    "is_rare",
    "item_loop",
    "items_in",
    "iterators_per_step",
    "joined_to_return",
    "loop_around_method",
    "made_anew",
    "mutates",
    "names_of",
    "once_in",
    "only_averaged",
    "over_batches",
    "over_rows",
    "passes_unchanging",
    "pure",
    "read_as_tensors",
    "rebuilt",
    "repeated_calls",
    "repeats",
    "repetitions",
    "resizes",
    "rewritten",
    "runs_alike",
    "runs_at_most",
    "runs_in_all",
    "same_arguments",
    "seen_runs",
    "step_functions",
    "step_names",
    "traced_with",
    "trains_in",
    "unchanging",
]
