"""Where values go: through names, containers, attributes and functions; what stores them, and who reads them."""

from tfmemlint.query.flow.captures import Capture, captured_arrays
from tfmemlint.query.flow.comments import comments_at
from tfmemlint.query.flow.containers import (
    Put,
    collects,
    is_bounded,
    is_emptied,
    is_filled,
    is_made_anew,
    puts,
    repeated_puts,
)
from tfmemlint.query.flow.makers import makers, only_gives_back
from tfmemlint.query.flow.parameters import parameters_behind
from tfmemlint.query.flow.readers import gives_away, only_reader
from tfmemlint.query.flow.stores import Store, fills, is_container, outlives, stores, traced_stores
from tfmemlint.query.flow.storing import (
    begun_before,
    container_of,
    lets_go,
    only_binding,
    stands_beside_others,
    storing_code,
)
from tfmemlint.query.flow.uses import Does, Use, uses

__all__ = [
    "Capture",
    "Does",
    "Put",
    "Store",
    "Use",
    "begun_before",
    "captured_arrays",
    "collects",
    "comments_at",
    "container_of",
    "fills",
    "gives_away",
    "is_bounded",
    "is_container",
    "is_emptied",
    "is_filled",
    "is_made_anew",
    "lets_go",
    "makers",
    "only_binding",
    "only_gives_back",
    "only_reader",
    "outlives",
    "parameters_behind",
    "puts",
    "repeated_puts",
    "stands_beside_others",
    "stores",
    "storing_code",
    "traced_stores",
    "uses",
]
