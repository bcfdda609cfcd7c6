"""Tensors and arrays: shapes, dtypes, and the operations that blow them up."""

from tfmemlint.query.tensors.arrays import (
    Entering,
    arrays_entering,
    arrays_taken,
    joined_arrays,
    only_cast,
    only_of_arrays,
    only_shown,
)
from tfmemlint.query.tensors.collected import Collected, collected_arrays
from tfmemlint.query.tensors.dtypes import (
    Division,
    GivenDtype,
    divided_integers,
    dtype_compared,
    float64_asked_for,
    float64_by_design,
    given_float64,
    says_float64,
)
from tfmemlint.query.tensors.little import is_little
from tfmemlint.query.tensors.one_hot import OneHot, one_hot
from tfmemlint.query.tensors.paired_rows import are_fed, needed_pairs, paired_rows
from tfmemlint.query.tensors.pairs import Pairs, all_pairs, cut_features, operands
from tfmemlint.query.tensors.precision import wants_digits
from tfmemlint.query.tensors.products import Product, products
from tfmemlint.query.tensors.read_arrays import ReadArray, one_picture
from tfmemlint.query.tensors.rows import read_as_one_row, rows_in
from tfmemlint.query.tensors.single_numbers import one_each
from tfmemlint.query.tensors.sizes_passed import is_unsized
from tfmemlint.query.tensors.small_data import (
    is_picture_elsewhere,
    is_sample,
    is_short_column,
    is_small_picture,
    rows_collected,
)
from tfmemlint.query.tensors.tensors import (
    copied_axes,
    inserted_axes,
    is_empty,
    partners,
    result_shape,
    shape_size,
    size_one,
)
from tfmemlint.query.tensors.tiled import Tiling, brings, tiling
from tfmemlint.query.tensors.together import float64_beside, float64_together
from tfmemlint.query.tensors.whole_ops import WholeOp, whole_ops

__all__ = [
    "Collected",
    "Division",
    "Entering",
    "GivenDtype",
    "OneHot",
    "Pairs",
    "Product",
    "ReadArray",
    "Tiling",
    "WholeOp",
    "all_pairs",
    "are_fed",
    "arrays_entering",
    "arrays_taken",
    "brings",
    "collected_arrays",
    "copied_axes",
    "cut_features",
    "divided_integers",
    "dtype_compared",
    "float64_asked_for",
    "float64_beside",
    "float64_by_design",
    "float64_together",
    "given_float64",
    "inserted_axes",
    "is_empty",
    "is_little",
    "is_picture_elsewhere",
    "is_sample",
    "is_short_column",
    "is_small_picture",
    "is_unsized",
    "joined_arrays",
    "needed_pairs",
    "one_each",
    "one_hot",
    "one_picture",
    "only_cast",
    "only_of_arrays",
    "only_shown",
    "operands",
    "paired_rows",
    "partners",
    "products",
    "read_as_one_row",
    "result_shape",
    "rows_collected",
    "rows_in",
    "says_float64",
    "shape_size",
    "size_one",
    "tiling",
    "wants_digits",
    "whole_ops",
]
