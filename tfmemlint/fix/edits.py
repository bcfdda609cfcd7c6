"""Builders of text edits on the unchanged source: they own commas, comments, parentheses, indentation and aliases.

All return edits (or None where the place does not allow the change) and none re-emits text that it does not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.finding import Edit, Span
from tfmemlint.model.remembered import once_per_file
from tfmemlint.syntax.scopes import Binds, dotted, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Argument
    from tfmemlint.model.file import File

LOOSE = (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.BooleanOperation, cst.IfExp, cst.Lambda)
"""Expressions that an operator around them would take apart."""


def outer_span(file: File, node: Node) -> Span:
    """The node's characters with its own parentheses."""
    span = file.span(node)
    left, right = (node.lpar, node.rpar) if isinstance(node, cst.BaseExpression) else ((), ())
    spans = file.home(node).spans  # parentheses alone do not tell whose they are
    return Span(spans[left[0]][0], spans[right[-1]][1]) if left and right else span


def replace_node(file: File, node: Node, text: str) -> Edit:
    """Write `text` instead of an expression (its own parentheses stay)."""
    span = file.span(node)
    return Edit(span.start, span.end, text)


def replace_keyword(file: File, call: cst.Call, name: str, text: str) -> Edit | None:
    """Write `text` instead of what is passed for a keyword. None where it is passed in another way or not at all."""
    values = [arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == name]
    return replace_node(file, values[0], text) if values else None


def append_method(file: File, node: Node, link: str) -> Edit:
    """Write `link` (`.prefetch(2)`) after an expression; a chain with one method a line gets a line of its own, and
    operators get parentheses."""
    whole = outer_span(file, node)
    end = whole.end
    if isinstance(node, LOOSE) and not node.lpar:
        return Edit(whole.start, end, f"({file.source_of(node).text[whole.start : end]}){link}")
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return Edit(end, end, link)
    lead = _gap(file, node)
    if "#" in lead:
        lead = lead[lead.rindex("\n") :]
    if "\n" not in lead or "\\" in lead:
        return Edit(end, end, link)
    inner = file.span(node).end
    if node.rpar:  # inside of the parentheses, after the comment of the last line
        line = file.source_of(node).line_span(inner)
        rest = file.source_of(node).text[inner : line.end].strip()
        inner = line.end if not rest or rest.startswith("#") else inner
    return Edit(inner, inner, lead + link)


def _gap(file: File, call: cst.Call) -> str:
    """The white space between a link's receiver and its dot."""
    assert isinstance(call.func, cst.Attribute)
    return file.source_of(call).text[outer_span(file, call.func.value).end : link_span(file, call).start]


def link_span(file: File, call: cst.Call) -> Span:
    """A method call's link in its chain: from the dot to the closing parenthesis."""
    assert isinstance(call.func, cst.Attribute)
    name = file.span(call.func.attr)
    dot = file.source_of(call).text.rindex(".", outer_span(file, call.func.value).end, name.start)
    return Span(dot, file.span(call).end)


def remove_argument(file: File, call: cst.Call, argument: Argument) -> Edit:
    """Take an argument out of a call, with one comma and the white space that belonged to it."""
    index = next(i for i, arg in enumerate(call.args) if arg is argument.node)
    start, end = _argument_span(file, call, index)
    if index + 1 < len(call.args):
        end = _argument_span(file, call, index + 1)[0]
    elif index > 0:
        # The comma before goes, and with it the blank up to this argument; a trailing comma stays the closing style.
        previous_end = _argument_span(file, call, index - 1)[1]
        return Edit(previous_end, end, "")
    else:
        text = file.source_of(call).text
        comma = end
        while text[comma] in " \t":
            comma += 1
        end = comma + 1 if text[comma] == "," else end
        inside = Span(text.rindex("(", 0, start) + 1, file.span(call).end - 1)
        if not (text[inside.start : start] + text[end : inside.end]).strip():
            return Edit(inside.start, inside.end, "")
        line = file.source_of(call).line_span(start)
        if not (text[line.start : start] + text[end : line.end]).strip():
            return Edit(line.start, min(line.end + 1, len(text)), "")
    return Edit(start, end, "")


def _argument_span(file: File, call: cst.Call, index: int) -> tuple[int, int]:
    """From the first character of an argument (keyword or star) to the last of its value, without the comma."""
    arg = call.args[index]
    value = outer_span(file, arg.value)
    start = file.span(arg.keyword).start if arg.keyword is not None else value.start - len(arg.star)
    return start, value.end


def indentation(file: File, statement: Node) -> str:
    """The white space in front of a statement's line."""
    start = file.span(statement).start
    line = file.source_of(statement).line_span(start)
    lead = file.source_of(statement).text[line.start : start]
    return lead if not lead.strip() else lead[: len(lead) - len(lead.lstrip())]


def insert_before(file: File, statement: Node, text: str) -> Edit:
    """Write a statement (LF between its lines, no indentation of its own) on its own lines before another."""
    start = file.source_of(statement).line_span(_first_offset(file, statement)).start
    lead = indentation(file, statement)
    return Edit(start, start, "".join(f"{lead}{line}\n" for line in text.split("\n")))


def _first_offset(file: File, statement: Node) -> int:
    decorators = getattr(statement, "decorators", ())
    return file.span(decorators[0]).start if decorators else file.span(statement).start


def insert_after(file: File, statement: Node, text: str) -> Edit:
    """Write a statement on its own lines after another, at its indentation."""
    end = file.source_of(statement).line_span(file.span(statement).end).end
    lead = indentation(file, statement)
    return Edit(end, end, "".join(f"\n{lead}{line}" for line in text.split("\n")))


def convert_after(file: File, target: Node, api: str) -> Edit | None:
    """Write a line after the assignment to a name or attribute that gives it to an API: `table = tf.constant(table)`.

    None where the file has no name for the API, where the target is another, or shares a line with other code.
    """
    spelled, name, line = api_text(file, api), dotted(target), file.tree.statement(target)
    if spelled is None or name is None or not isinstance(target, (cst.Name, cst.Attribute)):
        return None
    if not isinstance(line, cst.SimpleStatementLine) or statement_lines(file, line) is None:
        return None
    return insert_after(file, line, f"{name} = {spelled}({name})")


def insert_first(file: File, block: cst.BaseCompoundStatement, text: str) -> Edit | None:
    """Write a statement first in a block's body; None for a body on the header's line."""
    body = block.body
    if not isinstance(body, cst.IndentedBlock) or not body.body:
        return None
    return insert_before(file, body.body[0], text)


def statement_lines(file: File, statement: Node) -> Span | None:
    """The whole lines of a statement, line end included; None if it shares a line with other code."""
    text, span = file.source_of(statement).text, file.span(statement)
    first = file.source_of(statement).line_span(_first_offset(file, statement))
    last = file.source_of(statement).line_span(span.end)
    after = text[span.end : last.end].strip()
    if text[first.start : _first_offset(file, statement)].strip() or (after and not after.startswith("#")):
        return None
    return Span(first.start, min(last.end + 1, len(text)))


@once_per_file
def api_text(file: File, name: str) -> str | None:
    """How this file writes a canonical API name, by the imports that reach the end of the module; None if it imports
    nothing that leads there."""
    best: tuple[bool, int, str] | None = None
    for local, definitions in file.flow(file.module).end.items():
        real = written(definitions)
        if not real or any(d.binds is not Binds.IMPORT for d in real):
            continue
        for prefix in {knowledge.canonical(d.api) for d in real}:
            if name == prefix or name.startswith(prefix + "."):
                spelled = local + name[len(prefix) :]
                # Through the root where the file has it, as most files write it; Keras through the nearest module.
                ranked = (prefix != "tf" and not name.startswith("tf.keras."), spelled.count("."), spelled)
                if best is None or ranked < best:
                    best = ranked
    return best[2] if best is not None else None


def ensure_numpy(file: File, at: Node) -> tuple[str, tuple[Edit, ...]]:
    """The name under which the file knows NumPy at a place, and the edits that import it where it does not."""
    known = api_text(file, "np")
    if known is not None and not _comes_later(file, known, at):
        return known, ()
    first = next(
        (
            statement
            for statement in file.module.body
            if isinstance(statement, cst.SimpleStatementLine)
            and isinstance(statement.body[0], (cst.Import, cst.ImportFrom))
            and not _is_future(statement.body[0])
        ),
        None,
    )
    if first is None:
        return "np", ()
    if known is not None:
        return known, (insert_before(file, first, f"import numpy as {known}" if known != "numpy" else "import numpy"),)
    if "np" in file.flow(file.module).bindings or file.loads("np"):  # taken otherwise, or meant by code that lacks it
        return "numpy", (insert_before(file, first, "import numpy"),)
    return "np", (insert_before(file, first, "import numpy as np"),)


def _comes_later(file: File, name: str, at: Node) -> bool:
    """Whether a module binds a name only behind a place that runs as the module does, as a later cell of a notebook."""
    bound = written(file.flow(file.module).bindings.get(name, ()))
    start = file.span(at).start
    return file.scope_of(at) is file.module and bool(bound) and all(file.span(d.node).start > start for d in bound)


def _is_future(node: Node) -> bool:
    return isinstance(node, cst.ImportFrom) and isinstance(node.module, cst.Name) and node.module.value == "__future__"


def dedent(file: File, statements: Sequence[Node], levels: str) -> tuple[Edit, ...] | None:
    """Move whole statements out by the white space `levels`; None where a string runs over several lines."""
    if not statements:
        return None
    for statement in statements:
        if any("\n" in file.text(n) for n in walk(statement, cst.SimpleString, cst.FormattedString)):
            return None
    source = file.source_of(statements[0])
    text, first = source.text, source.line_span(file.span(statements[0]).start).start
    end = file.span(statements[-1]).end
    edits, at = [], first
    while at < end:
        if text.startswith(levels, at):
            edits.append(Edit(at, at + len(levels), ""))
        newline = text.find("\n", at)
        at = newline + 1 if newline >= 0 else end
    return tuple(edits)
