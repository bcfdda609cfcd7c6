"""Expressions that are Python numbers for certain."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Binds, Call, Const, Definition, File, Length, Node, dotted, variables

CONVERTS = frozenset({"builtins.float", "builtins.int", "builtins.str", "builtins.len", "builtins.round",
                      "builtins.ord"})  # fmt: skip
COMBINES = frozenset({"builtins.min", "builtins.max", "builtins.abs", "builtins.pow", "builtins.sum", "builtins.round"})
RANDOM = frozenset({"random.random", "random.randint", "random.uniform", "random.gauss", "random.randrange",
                    "random.normalvariate", "random.betavariate", "time.time", "time.perf_counter",
                    "time.monotonic"})  # fmt: skip
SIZED = frozenset({"np.random.rand", "np.random.randn", "np.random.randint", "np.random.uniform", "np.random.normal",
                   "np.random.random", "np.random.beta"})  # fmt: skip
"""NumPy draws that give a Python number unless a size is asked for."""

GENERATORS = frozenset({"np.random.default_rng", "np.random.RandomState", "np.random.Generator", "random.Random"})
NOW = frozenset({"datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today"})
CLOCKS = frozenset({"isoformat", "strftime", "timestamp", "ctime"})
FLOATS = frozenset({"random", "uniform", "normal", "gauss", "beta", "gamma", "exponential", "triangular", "randint",
                    "randrange", "betavariate"})  # fmt: skip
"""Methods of a generator that give a Python number unless a size is asked for; `integers` gives a NumPy one."""

DEPTH = 4


def random_numbers(call: Call) -> bool:
    """Whether a call draws random numbers, of whatever kind."""
    return (call.name or "").startswith(("np.random.", "random.")) or _generator(call)


def _generator(call: Call) -> bool:
    """Whether a method of a generator is called that the file has made."""
    receiver = call.receiver_node
    made = call.evaluator.file.written(receiver) if receiver is not None else None
    return isinstance(made, cst.Call) and call.evaluator.file.call(made).name in GENERATORS


def draws(call: Call) -> bool:
    """Whether a call gives another Python number each time."""
    if call.method in FLOATS and _generator(call):
        return _scalar(call)
    if call.method in CLOCKS and call.receiver_node is not None:
        now = call.evaluator.file.written(call.receiver_node)
        return isinstance(now, cst.Call) and call.evaluator.file.call(now).name in NOW
    if call.name in ("np.random.rand", "np.random.randn"):
        return not call.node.args
    return call.name in RANDOM or (call.name in SIZED and _scalar(call))


def _scalar(call: Call) -> bool:
    most = {"np.random.random": 0, "np.random.randint": 2}.get(call.name or "", 2)
    given = [arg for arg in call.node.args if arg.keyword is None]
    named = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
    return len(given) <= most and not named & {"size", "dtype"}


def is_python(node: cst.BaseExpression, file: File, depth: int = DEPTH) -> bool:
    """Whether an expression is certainly a Python number or string."""
    if depth == 0:
        return False
    value = file.value(node)
    if all(isinstance(option, (Const, Length)) for option in value.options):
        return not any(isinstance(getattr(option, "value", 0), (bool, type(None))) for option in value.options)
    if isinstance(node, cst.Call):
        call = file.call(node)
        return call.name in CONVERTS or (call.name or "").startswith("math.") or draws(call)
    if isinstance(node, cst.BinaryOperation):
        return is_python(node.left, file, depth - 1) and is_python(node.right, file, depth - 1)
    if isinstance(node, cst.UnaryOperation):
        return is_python(node.expression, file, depth - 1)
    if isinstance(node, (cst.Name, cst.Attribute)):
        if isinstance(node, cst.Attribute) and _parsed(node.value, file):
            return True
        definitions = file.definitions(node)
        made = [d.value for d in definitions if d.binds is Binds.VALUE and not d.path]
        known = [isinstance(v, cst.BaseExpression) and is_python(v, file, depth - 1) for v in made]
        return (bool(made) and len(made) == len(definitions) and all(known)) or _counts_rounds(node, file)
    return False


def _parsed(receiver: cst.BaseExpression, file: File) -> bool:
    """Whether `args` in `args.epochs` is what `parse_args()` gave."""
    if not isinstance(receiver, cst.Name):
        return False
    flow = file.flow(file.scope_of(receiver))
    definitions = flow.uses.get(id(receiver)) or file.flow(file.module).end.get(receiver.value, ())
    return bool(definitions) and all(
        isinstance(d.value, cst.Call) and not d.path and file.call(d.value).method == "parse_args" for d in definitions
    )


def _counts_rounds(node: cst.Name | cst.Attribute, file: File) -> bool:
    """Whether `range(node)` stands in the same function, or `while step < node`: then it is a number."""
    path, scope = dotted(node), file.scope_of(node)
    for call in file.calls_by_word.get("range", ()):
        if file.scope_of(call) is scope and any(dotted(arg.value) == path for arg in call.args):
            return True
    for loop in file.tree.of(cst.While):
        if file.scope_of(loop) is scope and isinstance(loop.test, cst.Comparison) and len(loop.test.comparisons) == 1:
            left, right = loop.test.left, loop.test.comparisons[0].comparator
            if dotted(right) == path and left is not node and dotted(left) != path:
                return is_python(left, file, 1) or starts_number(left, file)
    return False


def starts_number(node: cst.BaseExpression, file: File) -> bool:
    """Whether one of the definitions of a name is a Python number and all others add to it."""
    definitions = file.definitions(node)
    numbers = [d for d in definitions if d.binds is Binds.VALUE and isinstance(file.value(d.value), Const)]  # type: ignore[arg-type]
    return bool(numbers) and all(d in numbers or d.binds is Binds.AUGMENTED for d in definitions)


def part_of(definition: Definition) -> Node | None:
    """What a name is given, also as one of several: `outputs, sizes = [], []`."""
    value = definition.value
    for at in definition.path:
        if not isinstance(value, (cst.Tuple, cst.List)) or isinstance(at, slice) or at >= len(value.elements):
            return None
        value = value.elements[at].value
    return value


def starts_python(d: Definition, file: File) -> bool:
    """Whether another definition of the name is a Python number."""
    others = [o for o in file.flow(d.scope).bindings.get(d.name, ()) if o is not d]
    declared: list[cst.Global | cst.Nonlocal] = [*file.tree.of(cst.Global), *file.tree.of(cst.Nonlocal)]
    if any(file.scope_of(n) is d.scope and any(i.name.value == d.name for i in n.names) for n in declared):
        others += [o for scope in file.scopes_around(d.scope) for o in file.flow(scope).bindings.get(d.name, ())]
    if "." in d.name:
        for assign in file.tree.of(cst.Assign):
            if any(dotted(t.target) == d.name for t in assign.targets) and isinstance(file.value(assign.value), Const):
                return True
    for other in others:
        given = part_of(other)
        if other.binds is Binds.VALUE and isinstance(given, cst.BaseExpression):
            own = d.name in variables(given, file)
            if not own and is_python(given, file):
                return True
        if other.binds is Binds.PARAMETER and isinstance(other.node, cst.Param):
            default = other.node.default
            if default is not None and isinstance(file.value(default), Const) and is_python(default, file):
                return True
            annotation = other.annotation.annotation if isinstance(other.annotation, cst.Annotation) else None
            if isinstance(annotation, cst.Name) and annotation.value in ("int", "float", "str"):
                return True
    return False
