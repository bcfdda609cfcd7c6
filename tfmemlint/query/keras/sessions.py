"""TensorFlow 1 sessions: what makes one, which calls run one, and whether it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Instance, Value
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.query.repetition.repeats import Repetition

SESSION = "tf.compat.v1.Session"
"""The type of a session, however it was made."""

SESSIONS = ("tf.Session", "tf.InteractiveSession", SESSION, "tf.compat.v1.InteractiveSession")

INTERACTIVE = ("tf.InteractiveSession", "tf.compat.v1.InteractiveSession")
"""Sessions that make themselves the default one, which holds them."""

CLOSES = frozenset({"close", "__enter__", "__exit__", "as_default"})
LEAVES_OPEN = frozenset({"restore", "save", "set_session"})
"""Methods of savers and of Keras, which use a session or keep it as the one that is open."""


def is_session(value: Value) -> bool:
    """Whether a value is certainly a session, whichever of its alternatives it is."""
    return all(isinstance(option, Instance) and option.type_name == SESSION for option in value.options)


def session_runs(file: File) -> list[Call]:
    """The calls that certainly run a session: `session.run(...)` of what is known to be one, and `tensor.eval(...)`."""
    found = (file.call(node) for word in ("run", "eval") for node in file.calls_by_word.get(word, ()))
    return [call for call in found if _runs(call)]


def runs_graphs(file: File, session: Call) -> bool:
    """Whether the program may build graphs and run them, in this session (a call that makes or sets one) or another:
    True also where something runs that is not known."""
    if any(file.calls(*knowledge.group("builds_graphs"))) or file.may_be_version_1:
        return True
    if any(use.does is Does.ENTER for use in uses(file, session.node)):
        return True
    receivers = [file.call(node).receiver for node in file.calls_by_word.get("run", ())]
    return any(not each.known or (isinstance(each, Instance) and each.type_name in SESSIONS) for each in receivers)


def left_open(file: File, made: Call, again: Repetition) -> bool:
    """Whether a session that is made again and again is certainly neither closed, entered, returned nor kept beside
    others, nor given to code that may do so, `FOLLOWED_CALLS` deep. A plain one that nothing holds, as in
    `tf.Session().run(x)` and `x.eval(session=tf.Session())`, is freed at once."""
    if made.name not in INTERACTIVE and _runs_at_once(file, made.node):
        return False
    followed = uses(file, made.node, attributes=True, through=FOLLOWED_CALLS)
    return not any(_may_close(use, again) for use in followed)


def _runs_at_once(file: File, session: cst.Call) -> bool:
    of = file.tree.parent(session)
    if isinstance(of, cst.Attribute):
        return of.attr.value == "run"
    run = file.tree.parent(of) if isinstance(of, cst.Arg) else None
    return isinstance(run, cst.Call) and isinstance(run.func, cst.Attribute) and run.func.attr.value == "eval"


def _may_close(use: Use, again: Repetition) -> bool:
    if use.does in (Does.METHOD, Does.READ):
        return use.word in CLOSES
    if use.does is Does.PASS and use.call is not None:
        known = use.call.names and all(name.startswith(("tf.", "builtins.")) for name in use.call.names)
        return not known and use.word not in LEAVES_OPEN
    if use.does is Does.STORE and isinstance(use.place, cst.Attribute) and use.call is None and not again.calls:
        return (dotted(use.place) or "").partition(".")[0] in again.items  # each object keeps its own
    return use.does in (Does.ENTER, Does.RETURN, Does.STORE, Does.OTHER)


def _runs(call: Call) -> bool:
    if call.method == "eval":
        return all(isinstance(option, Array) and option.library == "tf" for option in call.receiver.options)
    return is_session(call.receiver)
