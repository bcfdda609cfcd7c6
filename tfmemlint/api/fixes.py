"""What rules build repairs with: edits of arguments, chains, statements and blocks, layout and comments kept."""

from tfmemlint.fix.chains import (
    add_argument,
    append_prefetch,
    autotune_text,
    leave_out,
    make_float32,
    move_link,
    remove_link,
    set_autotune,
    unwrap_call,
)
from tfmemlint.fix.edits import (
    api_text,
    append_method,
    convert_after,
    dedent,
    ensure_numpy,
    indentation,
    insert_after,
    insert_before,
    insert_first,
    link_span,
    outer_span,
    remove_argument,
    replace_node,
    statement_lines,
)
from tfmemlint.fix.hoist import hoist, loops_left
from tfmemlint.fix.move_statements import move_before
from tfmemlint.fix.statements import move_below, remove_assignment, remove_statement, repeat_below, unwrap_named
from tfmemlint.fix.wrap import wrap_in_block

__all__ = [
    "add_argument",
    "api_text",
    "append_method",
    "append_prefetch",
    "autotune_text",
    "convert_after",
    "dedent",
    "ensure_numpy",
    "hoist",
    "indentation",
    "insert_after",
    "insert_before",
    "insert_first",
    "leave_out",
    "link_span",
    "loops_left",
    "make_float32",
    "move_before",
    "move_below",
    "move_link",
    "outer_span",
    "remove_argument",
    "remove_assignment",
    "remove_link",
    "remove_statement",
    "repeat_below",
    "replace_node",
    "set_autotune",
    "statement_lines",
    "unwrap_call",
    "unwrap_named",
    "wrap_in_block",
]
