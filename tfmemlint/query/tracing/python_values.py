"""Which expressions are certainly Python numbers or strings, not tensors or arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, Length
from tfmemlint.syntax.names import variables
from tfmemlint.syntax.scopes import Binds, Definition, dotted
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

GENERATORS = frozenset({"np.random.default_rng", "np.random.RandomState", "np.random.Generator", "random.Random"})
OF_GENERATORS = frozenset({"random", "uniform", "normal", "gauss", "beta", "gamma", "exponential", "triangular",
                           "randint", "randrange", "betavariate"})  # fmt: skip
"""Methods of a generator that give a Python number unless a size is asked for; `integers` gives a NumPy one."""

NOW = frozenset({"datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"})
OF_NOW = frozenset({"isoformat", "strftime", "timestamp", "ctime"})
MOST_ARGUMENTS = {"np.random.rand": 0, "np.random.randn": 0, "np.random.random": 0}
"""Positional arguments that a draw of one number has, where it is not a low and a high."""

NESTED = 4
"""Operands, and names bound to them, that are looked at inside each other: numbers in code are no longer sums."""

ANNOTATIONS = frozenset({"int", "float", "str"})


def is_python(file: File, node: cst.BaseExpression) -> bool:
    """Whether an expression is certainly a Python number or string, and no flag; False also where it is not known."""
    return _is_python(file, node, NESTED)


def draws_number(file: File, call: Call) -> bool:
    """Whether a call certainly gives another Python number or string each time: at random, or from the clock."""
    if call.method in OF_GENERATORS and _of_generator(file, call):
        return _gives_one(call)
    if call.method in OF_NOW and call.receiver_node is not None:
        now = file.written(call.receiver_node)
        return isinstance(now, cst.Call) and file.call(now).name in NOW
    drawn = knowledge.in_group(call.name, "draws_python_scalar") and _gives_one(call)
    return drawn or knowledge.in_group(call.name, "draws_python")


def draws_anything(file: File, call: Call) -> bool:
    """Whether a call draws random numbers, also arrays of them; False where it is not known to."""
    return (call.name or "").startswith(("np.random.", "random.")) or _of_generator(file, call)


def starts_python(file: File, definition: Definition) -> bool:
    """Whether another definition of the same name gives it a Python number or string, or promises one: an assignment,
    a parameter's default or annotation. So `n = n + 1` starts somewhere."""
    others = [o for o in file.flow(definition.scope).bindings.get(definition.name, ()) if o is not definition]
    if _declared_outside(file, definition):
        around = file.scopes_around(definition.scope)
        others += [o for scope in around for o in file.flow(scope).bindings.get(definition.name, ())]
    assigned = file.assigned_paths.get(definition.name, ()) if "." in definition.name else ()
    if any(isinstance(file.value(assign.value), Const) for assign in assigned):
        return True
    return any(_gives_python(file, other) for other in others)


def part_of(definition: Definition) -> Node | None:
    """The expression that a name is given, also as one of several: `outputs, sizes = [], []`; None where it is not
    written."""
    value = definition.value
    for at in definition.path:
        if not isinstance(value, (cst.Tuple, cst.List)) or isinstance(at, slice) or at >= len(value.elements):
            return None
        value = value.elements[at].value
    return value


def _is_python(file: File, node: cst.BaseExpression, left: int) -> bool:
    if left == 0:
        return False
    options = file.value(node).options
    if all(isinstance(option, (Const, Length)) for option in options):
        return not any(isinstance(getattr(option, "value", 0), (bool, type(None))) for option in options)
    if isinstance(node, cst.Call):
        call = file.call(node)
        return knowledge.in_group(call.name, "gives_python") or draws_number(file, call)
    if isinstance(node, (cst.FormattedString, cst.ConcatenatedString)) or _fills_template(node):
        return True
    if isinstance(node, cst.BinaryOperation):
        return _is_python(file, node.left, left - 1) and _is_python(file, node.right, left - 1)
    if isinstance(node, cst.UnaryOperation):
        return _is_python(file, node.expression, left - 1)
    return isinstance(node, (cst.Name, cst.Attribute)) and _names_python(file, node, left)


def _fills_template(node: cst.BaseExpression) -> bool:
    """`"layer %d" % index`"""
    return isinstance(node, cst.BinaryOperation) and (
        isinstance(node.operator, cst.Modulo) and isinstance(node.left, (cst.SimpleString, cst.ConcatenatedString))
    )


def _names_python(file: File, node: cst.Name | cst.Attribute, left: int) -> bool:
    if isinstance(node, cst.Attribute) and _is_parsed(file, node.value):
        return True
    definitions = file.definitions(node)
    made = [d.value for d in definitions if d.binds is Binds.VALUE and not d.path]
    known = [isinstance(value, cst.BaseExpression) and _is_python(file, value, left - 1) for value in made]
    return (bool(made) and len(made) == len(definitions) and all(known)) or _counts(file, node)


def _of_generator(file: File, call: Call) -> bool:
    """Whether a method of a random generator is called that the file has made."""
    made = file.written(call.receiver_node) if call.receiver_node is not None else None
    return isinstance(made, cst.Call) and file.call(made).name in GENERATORS


def _gives_one(call: Call) -> bool:
    """Whether a draw gives one number: no size is asked for."""
    given = [arg for arg in call.node.args if arg.keyword is None]
    named = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
    return len(given) <= MOST_ARGUMENTS.get(call.name or "", 2) and not named & {"size", "dtype"}


def _is_parsed(file: File, receiver: cst.BaseExpression) -> bool:
    """Whether `args` in `args.epochs` is what `parse_args()` gave."""
    if not isinstance(receiver, cst.Name):
        return False
    flow = file.flow(file.scope_of(receiver))
    definitions = flow.uses.get(id(receiver)) or file.flow(file.module).end.get(receiver.value, ())
    return bool(definitions) and all(
        isinstance(d.value, cst.Call) and not d.path and file.call(d.value).method == "parse_args" for d in definitions
    )


def _counts(file: File, node: cst.Name | cst.Attribute) -> bool:
    """Whether `range(node)` stands in the same function, or `while step < node`: then it is a number."""
    path, scope = dotted(node), file.scope_of(node)
    for call in file.calls_by_word.get("range", ()):
        if file.scope_of(call) is scope and any(dotted(arg.value) == path for arg in call.args):
            return True
    for loop in file.tree.of(cst.While):
        if file.scope_of(loop) is scope and isinstance(loop.test, cst.Comparison) and len(loop.test.comparisons) == 1:
            left, right = loop.test.left, loop.test.comparisons[0].comparator
            if dotted(right) == path and left is not node and dotted(left) != path:
                return _is_python(file, left, 1) or _counted_up(file, left)
    return False


def _counted_up(file: File, node: cst.BaseExpression) -> bool:
    """Whether one of the definitions of a name is a Python number and all others add to it."""
    definitions = file.definitions(node)
    numbers = [d for d in definitions if d.binds is Binds.VALUE and d.value is not None
               and isinstance(file.value(d.value), Const)]  # fmt: skip
    return bool(numbers) and all(d in numbers or d.binds is Binds.AUGMENTED for d in definitions)


def _declared_outside(file: File, definition: Definition) -> bool:
    """Whether the function says that the name is global or nonlocal."""
    return id(definition.scope) in file.declared.get(definition.name, ())


def _gives_python(file: File, definition: Definition) -> bool:
    """Whether a definition gives its name a Python number, not made of the name itself, or promises one."""
    if definition.binds is Binds.VALUE:
        given = part_of(definition)
        own = given is None or definition.name in variables(file, given)
        return not own and isinstance(given, cst.BaseExpression) and is_python(file, given)
    if definition.binds is not Binds.PARAMETER or not isinstance(definition.node, cst.Param):
        return False
    default = definition.node.default
    if default is not None and isinstance(file.value(default), Const) and is_python(file, default):
        return True
    annotation = definition.annotation.annotation if isinstance(definition.annotation, cst.Annotation) else None
    return isinstance(annotation, cst.Name) and annotation.value in ANNOTATIONS
