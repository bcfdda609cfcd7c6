"""A call in the code: what it calls, its arguments by name, the chain it ends and the place it stands in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.binding import dictionaries, held, lacks_keys
from tfmemlint.model.values import Api, Class, Dataset, Function, Instance, Mapping, Method, Step, Unknown, Value
from tfmemlint.syntax.scopes import positional

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame

ABSENT = Unknown("no such argument")


class UnknownParameterError(LookupError):
    """Code asks for an argument that no call can have, so that it would never see one."""


Answer = TypeVar("Answer")


class _remembered(Generic[Answer]):
    """A property that is computed once; again as long as what it is made of is still in the making."""

    def __init__(self, compute: Callable[[Call], Answer]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, call: Call, owner: type[Call]) -> Answer:
        answer, stands = call.evaluator.memo.settled(lambda: self._compute(call))
        if stands:
            call.__dict__[self._compute.__name__] = answer
        return answer


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """An argument as written: `node` is the Arg, `expression` its value's expression."""

    node: cst.Arg
    evaluator: Evaluator
    frame: Frame | None

    @property
    def expression(self) -> cst.BaseExpression:
        return self.node.value

    @property
    def value(self) -> Value:
        """What the argument can be."""
        return self.evaluator.value(self.node.value, self.frame)


class Call:
    """One call expression in one frame (`frame` is None for the code as it stands, over all callers).

    Calls are made by `Evaluator.call` alone, so that the same place is the same object.
    """

    strict: ClassVar[bool] = False
    """Whether to raise UnknownParameterError for misspelt parameters, as the tests of rules do: see `strict_calls`."""

    def __init__(self, node: cst.Call, evaluator: Evaluator, frame: Frame | None) -> None:
        self.node = node
        self.evaluator = evaluator
        self.frame = frame

    def __repr__(self) -> str:
        return f"Call({self.name or self.method})"

    @_remembered
    def target(self) -> Value:
        """What is called: an `Api`, a `Method`, a `Function`, a `Class`, an `Instance`, one of several, or Unknown."""
        return self.evaluator.callee(self.node, self.frame)

    @_remembered
    def value(self) -> Value:
        """What the call returns."""
        return self.evaluator.value(self.node, self.frame)

    @_remembered
    def names(self) -> tuple[str, ...]:
        """The canonical API names that may be called here; empty if any alternative is not an API."""
        found: dict[str, None] = {}
        for option in self.target.options:
            name = api_name(option)
            if name is None:
                return ()
            found[name] = None
        return tuple(found)

    @property
    def name(self) -> str | None:
        """The canonical API name, such as `tf.data.Dataset.cache`, or None where it is not known for certain."""
        names = self.names  # asked for once: while a circle is worked out, the second answer may be another
        return names[0] if len(names) == 1 else None

    @property
    def method(self) -> str | None:
        """The last part of the called expression as it is written: `cache` for `ds.cache()`."""
        func = self.node.func
        if isinstance(func, cst.Attribute):
            return func.attr.value
        return func.value if isinstance(func, cst.Name) else None

    @property
    def name_node(self) -> cst.CSTNode:
        """The node that findings about this call point at: the method's name, or the called expression."""
        func = self.node.func
        return func.attr if isinstance(func, cst.Attribute) else func

    @property
    def receiver_node(self) -> cst.BaseExpression | None:
        """The expression before the dot, or None for a plain function."""
        return self.node.func.value if isinstance(self.node.func, cst.Attribute) else None

    @_remembered
    def receiver(self) -> Value:
        """The value whose method is called, also by another name for the method; Unknown for a plain function."""
        node = self.receiver_node
        if node is None or id(self.node) in self.evaluator.file.home(self.node).bound_methods:
            bound = [t.receiver for t in self.target.options if isinstance(t, Method)]
            return bound[0] if len(bound) == 1 else Unknown("no receiver")
        value = self.evaluator.value(node, self.frame)
        if not value.known and isinstance(self.target, Method):
            return self.target.receiver
        return value

    # -- arguments ---------------------------------------------------------------------------------------------------

    @_remembered
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the positional parameters, the receiver left out; empty where the signature is not known."""
        target = self.target.options[0]
        if isinstance(target, Function):
            names = tuple(p.name.value for p in positional(target.node))
            return names[held(target.partial) + (target.receiver is not None) :]
        if isinstance(target, Class):
            init = self.evaluator.classes.method(target.node, "__init__")
            return tuple(p.name.value for p in positional(init))[1:] if init is not None else ()
        name = api_name(target)
        signature = knowledge.signature(name) if name is not None else None
        return signature.positional if signature is not None else ()

    @_remembered
    def _bound(self) -> dict[str | int, cst.Arg]:
        bound: dict[str | int, cst.Arg] = {}
        names = self.parameter_names
        for i, arg in enumerate(self.node.args):
            if arg.star:
                break
            if arg.keyword is None:
                bound[i] = arg
                if i < len(names):
                    bound[names[i]] = arg
        for arg in self.node.args:
            if arg.keyword is not None:
                bound[arg.keyword.value] = arg
                if arg.keyword.value in names:
                    bound.setdefault(names.index(arg.keyword.value), arg)
        return bound

    def arg(self, name: str | int, *others: str) -> Argument | None:
        """The argument of a parameter, by name (or position), however it is passed; `others` are older names of it."""
        if Call.strict:
            _require_parameter(self, (name, *others), of_others=True)
        for key in (name, *others):
            if key in self._bound:
                return Argument(self._bound[key], self.evaluator, self.frame)
        return None

    def receives(self, name: str, arg: cst.Arg) -> bool:
        """Whether a parameter gets this very argument."""
        argument = self.arg(name)
        return argument is not None and argument.node is arg

    def value_of(self, name: str | int, *others: str) -> Value:
        """The value of an argument, also of a dictionary that `**` passes; Unknown when it is not given.

        The parameter is one that such calls have; where not all of them do, ask `given`.
        """
        if Call.strict:
            _require_parameter(self, (name, *others), of_others=False)
        return self.given(name, *others)

    def given(self, name: str | int, *others: str) -> Value:
        """As `value_of`, of a parameter that only some of the calls have which may stand here."""
        argument = self.arg(name, *others)
        return argument.value if argument is not None else self._unpacked((name, *others))

    def _unpacked(self, names: tuple[str | int, ...]) -> Value:
        """What a dictionary holds that is passed with `**`; not what a function was itself given so."""
        for given in dictionaries(self):
            found = [given.get(name) for name in names if isinstance(name, str)] if isinstance(given, Mapping) else []
            known = next((value for value in found if value.known), None)
            if known is not None:
                return known
        return ABSENT

    @property
    def open(self) -> bool:
        """Whether `*args` or `**kwargs` may pass arguments that cannot be seen."""
        return any(arg.star for arg in self.node.args)

    def lacks(self, name: str, *others: str) -> bool:
        """Whether a parameter certainly keeps its default: it is not passed, nor in a dictionary that `**` passes, or
        `None` is, in so many words, where the default is None. A name that stands for None is a choice that is made
        elsewhere."""
        argument = self.arg(name, *others)
        if argument is not None:
            return not self.open and _is_none(argument.expression) and self._defaults_to_none(name)
        if any(arg.star == "*" for arg in self.node.args):
            return False
        return all(lacks_keys(given, (name, *others)) for given in dictionaries(self))

    def _defaults_to_none(self, name: str) -> bool:
        signatures = [knowledge.signature(each) for each in self.names]
        return bool(signatures) and all(each is not None and each.default(name) is None for each in signatures)

    # -- chains ------------------------------------------------------------------------------------------------------

    def chains(self) -> tuple[tuple[Step, ...], ...]:
        """For each pipeline that this dataset method may be applied to: all steps from the source on, this one last."""
        found = []
        for option in self.value.options:
            if isinstance(option, Dataset):
                found.append(option.steps)
        return tuple(found)

    def datasets(self) -> tuple[Dataset, ...]:
        """The pipelines that this dataset method may be applied to; empty if any alternative is something else."""
        options = self.receiver.options
        return (
            tuple(o for o in options if isinstance(o, Dataset)) if all(isinstance(o, Dataset) for o in options) else ()
        )


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"


def api_name(target: Value) -> str | None:
    """The canonical name that calling this value stands for, or None."""
    if isinstance(target, (Api, Method)):
        return target.name
    if isinstance(target, Instance) and target.type_name is not None:
        return knowledge.method_owner(target.type_name, "__call__") or f"{target.type_name}.__call__"
    return None


@contextmanager
def strict_calls() -> Iterator[None]:
    """Raise UnknownParameterError in this block where an argument is asked for that no call can have."""
    before, Call.strict = Call.strict, True
    try:
        yield
    finally:
        Call.strict = before


def _require_parameter(call: Call, names: tuple[str | int, ...], *, of_others: bool) -> None:
    """Raise where all that may be called is known and none of it takes any of these names; with `of_others` only where
    nothing else that is known does."""
    called = [api for option in call.target.options if (api := api_name(option)) is not None]
    found = [knowledge.signature(api, keras) for api in called for keras in (2, 3)]
    known = [signature for signature in found if signature is not None and not signature.takes_any_name]
    if not known or len(called) < len(call.target.options) or len(known) < len(found):
        return
    for name in names:
        if isinstance(name, int) or any(name in signature.names for signature in known):
            return
        if of_others and knowledge.is_parameter(name):
            return
    raise UnknownParameterError(f"{called[0]} has no parameter {names[0]!r}")
