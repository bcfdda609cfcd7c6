"""Builders of edits on method chains and arguments, layout and comments kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.finding import Edit, Span
from tfmemlint.fix.edits import LOOSE, api_text, append_method, link_span, outer_span, replace_node, statement_lines
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api
from tfmemlint.query.pipelines.chains import links
from tfmemlint.syntax.scopes import Definition, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


def add_argument(file: File, call: cst.Call, text: str) -> Edit | None:
    """Write `text` (`n=1`) as the last argument of a call that has some; on a line of its own where they stand so."""
    if not call.args:
        return None
    last = call.args[-1]
    value = outer_span(file, last.value)
    start = file.span(last.keyword).start if last.keyword is not None else value.start - len(last.star)
    line = file.source_of(call).line_span(start)
    lead = file.source_of(call).text[line.start : start]
    alone = not lead.strip() and file.source_of(call).text[value.end :].lstrip(" \t").startswith((",\n", ", #", ",  #"))
    return Edit(value.end, value.end, f",\n{lead}{text}" if alone else f", {text}")


def set_autotune(file: File, call: Call, parameter: str) -> Edit | None:
    """Pass `tf.data.AUTOTUNE` for a parameter of a call, instead of what it is passed. None where the file imports
    nothing that leads to it, or the call has no arguments."""
    text, argument = autotune_text(file, call.node), call.arg(parameter)
    if text is None:
        return None
    if argument is not None:
        return replace_node(file, argument.expression, text)
    return add_argument(file, call.node, f"{parameter}={text}")


def append_prefetch(file: File, pipeline: cst.BaseExpression) -> Edit | None:
    """Write `.prefetch(tf.data.AUTOTUNE)` behind an expression. None where it would need parentheses, and as
    `set_autotune` does."""
    text = autotune_text(file, pipeline)
    if text is None or (isinstance(pipeline, LOOSE) and not pipeline.lpar):
        return None
    return append_method(file, pipeline, f".prefetch({text})")


def unwrap_call(file: File, call: cst.Call, argument: cst.BaseExpression) -> Edit | None:
    """Write an argument in the place of its call; `a = f(a)` goes as a whole. None where a comment would go."""
    at = outer_span(file, argument)
    text = file.source_of(call).text[at.start : at.end]
    if "#" in file.text(call).replace(text, ""):
        return None
    parent = file.tree.parent(call)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1 and file.text(parent.targets[0].target) == text:
        lines = statement_lines(file, file.tree.statement(parent))
        if lines is not None:
            return Edit(lines.start, lines.end, "")
    bare = isinstance(argument, LOOSE) and not argument.lpar and not isinstance(parent, (cst.Arg, cst.Assign))
    return replace_node(file, call, f"({text})" if bare else text)


def make_float32(file: File, call: Call, numpy: str) -> Edit:
    """Have a call of NumPy make float32, by a `dtype` argument where it takes one, else by a cast behind it; `numpy` is
    the name by which the file knows NumPy."""
    name = call.name or ""
    signature = None if call.open or name.startswith("np.random.") else knowledge.signature(name)
    takes = signature is not None and "dtype" in signature.names
    given = add_argument(file, call.node, f"dtype={numpy}.float32") if takes else None
    return given or append_method(file, call.node, f".astype({numpy}.float32)")


def remove_link(file: File, call: cst.Call) -> Edit:
    """Take a method call out of its chain: from the end of its receiver to its closing parenthesis.

    A statement that only rebinds a name to itself afterwards (`ds = ds.cache()`) is taken out whole.
    """
    assert isinstance(call.func, cst.Attribute)
    whole = _only_rebinds(file, call)
    if whole is not None:
        return whole
    start, end = outer_span(file, call.func.value).end, link_span(file, call).end
    gap = file.source_of(call).text[start : link_span(file, call).start]
    if "#" in gap:  # the comment belongs to what stands before it
        start += gap.rindex("\n")
    return Edit(start, end, "")


def leave_out(file: File, call: Call) -> Edit | None:
    """Take a step out of its pipeline, as `remove_link` does; None where it is no link of a chain."""
    return remove_link(file, call.node) if call.receiver_node is not None and call.datasets() else None


def _only_rebinds(file: File, call: cst.Call) -> Edit | None:
    assign = file.tree.parent(call)
    line = file.tree.statement(call)
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1 or not isinstance(line, cst.SimpleStatementLine):
        return None
    assert isinstance(call.func, cst.Attribute)
    if file.text(assign.targets[0].target) != file.text(call.func.value) or len(line.body) != 1:
        return None
    block = file.tree.parent(line)
    span = statement_lines(file, line)
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        condition = file.tree.parent(block)
        if not isinstance(condition, cst.If) or not _only_asks(file, condition):
            return None
        above = file.source_of(condition).text[file.span(condition).start : file.span(line).start]
        span = statement_lines(file, condition) if "#" not in above else None
    return Edit(span.start, span.end, "") if span is not None else None


def _only_asks(file: File, condition: cst.If) -> bool:
    """Whether an `if` has no other branch, and asks without a call: with nothing in it, it may go."""
    around = file.tree.parent(condition)
    if condition.orelse is not None or isinstance(around, cst.If) or len(getattr(around, "body", ())) < 2:
        return False
    return not any(walk(condition.test, cst.Call, cst.NamedExpr, cst.Await))


def move_link(
    file: File, calls: Iterable[Call | None], source: int, target: int, text: str | None = None
) -> tuple[Edit, ...] | None:
    """Move one link of a chain to another's place; those between move up. `text` replaces the moved link's own text.

    The calls stand in source order, in one chain or in statements that follow each other. None where one of them is
    None, or where something else than the next of them takes what one gives, so that they may not trade places.
    Comments behind links that end their lines go with them.
    """
    chain = links(file, calls)
    if chain is None:
        return None
    source, target = source % len(chain), target % len(chain)
    spans = _with_comments(file, [link_span(file, call.node) for call in chain])
    texts = [file.source_of(chain[0].node).text[span.start : span.end] for span in spans]
    if text is not None:
        texts[source] = text + texts[source][len(_bare(file, chain[source])) :]
    order = list(range(len(chain)))
    order.insert(target, order.pop(source))
    above = _comments_above(file, chain)
    about = [file.source_of(chain[0].node).text[span.start : span.end] for span in above]
    moved = [(spans, texts, new, old) for new, old in enumerate(order) if new != old]
    moved += [(above, about, new, old) for new, old in enumerate(order) if above and about[new] != about[old]]
    edits = (Edit(places[new].start, places[new].end, words[old]) for places, words, new, old in moved)
    return tuple(sorted(edits, key=lambda edit: edit.start))


def _comments_above(file: File, chain: Sequence[Call]) -> list[Span]:
    """The comment lines directly above the links, where each begins what a statement of its own does to a name."""
    statements = [file.tree.statement(call.node) for call in chain]
    named = all(isinstance(call.receiver_node, cst.Name) for call in chain)
    if not named or len({id(statement) for statement in statements}) < len(chain):
        return []
    return [_lines_above(file, file.span(statement).start) for statement in statements]


def _lines_above(file: File, offset: int) -> Span:
    end = start = file.source.line_span(offset).start
    while start > 0:
        line = file.source.line_span(start - 1)
        if not file.source.text[line.start : line.end].lstrip().startswith("#"):
            break
        start = line.start
    return Span(start, end)


def _bare(file: File, call: Call) -> str:
    span = link_span(file, call.node)
    return file.source_of(call.node).text[span.start : span.end]


def _with_comments(file: File, spans: list[Span]) -> list[Span]:
    """The spans with the comments that end their lines, if each link ends its line; else as they are."""
    longer = []
    for span in spans:
        end = file.source.line_span(span.end).end
        rest = file.source.text[span.end : end]
        if rest.strip() and not rest.lstrip().startswith("#"):
            return spans
        longer.append(Span(span.start, span.end + len(rest.rstrip())))
    return longer


@once_per_file
def _own_autotune(file: File) -> list[tuple[str, list[Definition]]]:
    """The module's own names for `tf.data.AUTOTUNE`, with what defines them."""
    ends = ((name, found, written(found)) for name, found in file.flow(file.module).end.items())
    return [
        (name, definitions)
        for name, found, definitions in ends
        if name.isidentifier()
        and len(definitions) == len(found)
        and all(file.values.definition(d, None) == Api("tf.data.AUTOTUNE") for d in definitions)
    ]


def autotune_text(file: File, at: Node) -> str | None:
    """How this file writes `tf.data.AUTOTUNE` where an expression stands.

    By a name of the module's own for it, if it has one. None if nothing that is imported leads there.
    """
    scope = file.scope_of(at)
    outer = [each for each in (scope, *file.scopes_around(scope)) if each is not file.module]
    for name, definitions in _own_autotune(file):
        late = scope is file.module and any(file.tree.order(d.node) > file.tree.order(at) for d in definitions)
        if not late and not any(name in file.flow(each).bindings for each in outer):
            return name
    old = api_text(file, "tf.compat.v1")
    if file.before_version_2:
        return api_text(file, "tf.data.experimental.AUTOTUNE")
    return api_text(file, "tf.data.AUTOTUNE") or (f"{old}.data.experimental.AUTOTUNE" if old is not None else None)
