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
from tfmemlint.query.tensors.dtypes import (
    Division,
    GivenDtype,
    divided_integers,
    float64_asked_for,
    float64_by_design,
    given_float64,
    says_float64,
)
from tfmemlint.query.tensors.one_hot import OneHot, one_hot
from tfmemlint.query.tensors.pairs import Pairs, all_pairs
from tfmemlint.query.tensors.products import Product, products
from tfmemlint.query.tensors.tensors import (
    inserted_axes,
    is_empty,
    partners,
    result_shape,
    shape_size,
    size_one,
)
from tfmemlint.query.tensors.tiled import Tiling, brings, tiling

__all__ = [
    "Division",
    "Entering",
    "GivenDtype",
    "OneHot",
    "Pairs",
    "Product",
    "Tiling",
    "all_pairs",
    "arrays_entering",
    "arrays_taken",
    "brings",
    "divided_integers",
    "float64_asked_for",
    "float64_by_design",
    "given_float64",
    "inserted_axes",
    "is_empty",
    "joined_arrays",
    "one_hot",
    "only_cast",
    "only_of_arrays",
    "only_shown",
    "partners",
    "products",
    "result_shape",
    "says_float64",
    "shape_size",
    "size_one",
    "tiling",
]
