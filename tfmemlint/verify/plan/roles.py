"""What a parameter is that nobody passes, as far as it is no array: text, a flag, a number, an object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import dotted, parameters
from tfmemlint.syntax.tree import Node, walk
from tfmemlint.verify.child.usual import is_number, is_size, usual

ARRAYS = frozenset(("Tensor", "EagerTensor", "ndarray", "NDArray", "TensorLike", "KerasTensor"))
NO_ARRAYS = frozenset({
    "str", "bool", "float", "dict", "Dict", "Callable", "Model", "Sequential", "Layer", "Optimizer", "Path",
    "PathLike", "bytes", "Dataset", "Generator", "Iterable", "List", "Tuple", "Sequence", "list", "tuple",
    "set", "DataFrame", "Series", "Namespace", "Any",
})  # fmt: skip
OF_ARRAYS = frozenset({
    "shape", "dtype", "ndim", "size", "T", "get_shape", "numpy", "astype", "reshape", "transpose", "sum",
    "mean", "max", "min", "std", "var", "copy", "flatten", "squeeze", "argmax", "argmin", "all", "any", "ravel",
    "cumsum", "dot", "prod", "set_shape", "assign", "nbytes",
})  # fmt: skip
OF_TEXT = frozenset({
    "lower", "upper", "split", "strip", "endswith", "startswith", "encode", "format", "rsplit", "join", "title",
})  # fmt: skip
TEXT = ("open", "os.", "glob.", "tf.io.", "shutil.", "pd.read", "pathlib.", "np.load", "cv2.imread", "int", "json.")

CALL_IT = frozenset(("apply", "filter", "flat_map", "from_generator", "interleave", "map", "scan"))
"""Methods of data sets, and functions, whose first argument is a function."""

COUNT_BY_IT = frozenset(("batch", "padded_batch", "prefetch", "repeat", "shuffle", "skip", "take", "window"))
"""Methods of data sets whose first argument is a number."""

SUGGESTED = (
    (r"dirs?|folders?|directory|root", '"folder"'),
    (r"paths?|files?|filenames?|fname|csv|json|checkpoint|ckpt", '"file"'),
    (r"epochs?", "2"),
    (r"batch|bs", "32"),
    (r"lr|rate|alpha|beta|gamma|lambda|lambd|dropout|momentum|eps|epsilon|decay|ratio|prob|scale|temperature", "0.1"),
    (r"is|use|has|training|train|verbose|shuffle|debug|augment|flag|include|return", "True"),
    (r"(time)?steps?|rounds?|iterations?|iters?|size|dims?|units|len|length|count|depth|width|height|filters", "10"),
    (r"seed|channels", "10"),
    (r"labels?|targets?|classes|ids?|idx|index|indices|tokens?", "int64[32]"),
    (r"images?|imgs?|pictures?|frames?|photos?", "float32[32,224,224,3]"),
    (r"names?|mode|type|kind|text|word|string|str|title|key|activation|loss|url|prefix|split", '"text"'),
    (r"model|net|network|encoder|decoder|generator|discriminator|critic|tokenizer|optimizer|strategy|args?|fn", ""),
)
"""Values to suggest, by the last words of a name that say something; none for objects."""

COUNTS = ("num", "n", "max", "min", "nb")
"""First words of the names of numbers."""

SINGLE = frozenset("hkn")
"""Letters that are numbers."""

BY_ANNOTATION = {"str": '"text"', "bool": "True", "int": "10", "float": "0.1", "Path": '"file"', "PathLike": '"file"'}


def promises_array(parameter: cst.Param) -> bool:
    """Whether its annotation says that it is an array or a tensor."""
    return not annotated(parameter).isdisjoint(ARRAYS)


def promises_number(parameter: cst.Param) -> bool:
    """Whether its annotation says that it is a whole number."""
    return annotated(parameter) <= {"int", "Optional", "typing", "None"} and "int" in annotated(parameter)


def is_no_array(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef]) -> bool:
    """Whether a parameter is certainly no array, and no number that sizes are made of."""
    if not promises_array(parameter) and not annotated(parameter).isdisjoint(NO_ARRAYS):
        return True
    uses = uses_of(file, parameter, functions)
    return any(is_text(file, use) or _is_of_data_sets(file, use) for use in uses) or is_object(
        file, parameter, functions
    )


def _is_of_data_sets(file: File, use: Node) -> bool:
    """Whether it is a function or a number by which data sets go on."""
    arg = file.tree.parent(use)
    taker = takes_first(file, file.tree.parent(arg), arg) if isinstance(arg, cst.Arg) and arg.value is use else ""
    return taker in CALL_IT or taker in COUNT_BY_IT


def takes_first(file: File, call: Node | None, arg: cst.Arg) -> str:
    """The last name of what is given an argument as its first one, or under the name of that of a data set: of a method
    that may be one of data sets, or a function of Python itself; empty for `tf.repeat(x, 2)`."""
    if not isinstance(call, cst.Call) or (call.args[0] is not arg and arg.keyword is None):
        return ""
    if arg.keyword is not None and arg.keyword.value not in ("batch_size", "buffer_size", "count", "map_func"):
        return ""
    name = file.call(call).name or ""
    if isinstance(call.func, cst.Attribute) and name and not name.startswith("tf.data.Dataset."):
        return ""
    called = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return called.value if isinstance(called, cst.Name) else ""


def is_object(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef]) -> bool:
    """Whether it is called, has attributes that arrays have not, or its annotation names a class of the kind."""
    if not annotated(parameter).isdisjoint(("Model", "Sequential", "Layer", "Optimizer", "Callable", "Dataset")):
        return True
    for use in uses_of(file, parameter, functions):
        parent = file.tree.parent(use)
        if isinstance(parent, cst.Call) and parent.func is use:
            return True
        if isinstance(parent, cst.Attribute) and parent.value is use:
            return parent.attr.value not in OF_ARRAYS | OF_TEXT
    return False


def is_text(file: File, use: Node) -> bool:
    """Whether something is done with it that is done with text: it names a file, or is put together with text."""
    for above in _around(file, use):
        if isinstance(above, cst.Attribute) and above.attr.value in OF_TEXT:
            return True
        if isinstance(above, cst.Call):
            name = file.call(above).name or (dotted(above.func) or "")
            return name.startswith(TEXT)
        if isinstance(above, (cst.FormattedString, cst.FormattedStringExpression)):
            return True
        if isinstance(above, cst.BinaryOperation):
            return any(map(_has_text, (above.left, above.right)))
        if isinstance(above, cst.ComparisonTarget):
            return isinstance(above.comparator, cst.SimpleString)
        if isinstance(above, cst.Comparison):
            return any(isinstance(each.comparator, cst.SimpleString) for each in above.comparisons)
    return False


def _has_text(node: Node) -> bool:
    """Whether it is text, or put together with some: `folder + "train" + ending`."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return _has_text(node.left) or _has_text(node.right)
    return isinstance(node, (cst.SimpleString, cst.FormattedString))


def _around(file: File, use: Node) -> Iterator[Node]:
    """What stands around a name, up to two steps."""
    for number, above in enumerate(file.tree.ancestors(use)):
        if number == 2 or isinstance(above, cst.BaseStatement):
            return
        yield above


def uses_of(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef]) -> list[Node]:
    """The names that stand for a parameter, and the attributes that its constructor makes of it."""
    own = next(each for each in functions if any(other is parameter for other in parameters(each)))
    uses: list[Node] = list(file.home(own).places(parameter.name.value).bound_in(own))
    stored = set(filter(None, (_stored(file, use) for use in uses)))
    for function in functions if stored else ():
        uses += [node for node in walk(function) if isinstance(node, cst.Attribute) and dotted(node) in stored]
    return [use for use in uses if _stored(file, use) is None]


def is_watched(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef]) -> bool:
    """Whether a tape is to watch it, which takes no array of NumPy: `tape.watch(x)`."""
    around = (file.tree.parent(file.tree.parent(use) or use) for use in uses_of(file, parameter, functions))
    calls = (each.func for each in around if isinstance(each, cst.Call))
    return any(isinstance(called, cst.Attribute) and called.attr.value == "watch" for called in calls)


def stored_as(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef]) -> frozenset[str]:
    """The attributes that functions which run together no more than keep a parameter in: `self.x`."""
    own = next(each for each in functions if any(other is parameter for other in parameters(each)))
    uses = file.home(own).places(parameter.name.value).bound_in(own)
    return frozenset(filter(None, (_stored(file, use) for use in uses)))


def _stored(file: File, use: Node) -> str | None:
    """`self.x` where a name is no more than assigned to it."""
    assign = file.tree.parent(use)
    if isinstance(assign, cst.Assign) and assign.value is use and isinstance(assign.targets[0].target, cst.Attribute):
        return dotted(assign.targets[0].target)
    return None


def annotated(parameter: cst.Param) -> frozenset[str]:
    """The names in the annotation of a parameter."""
    if parameter.annotation is None:
        return frozenset()
    nodes = walk(parameter.annotation.annotation)
    return frozenset(node.value for node in nodes if isinstance(node, cst.Name))


def asked(
    file: File, unknown: Sequence[tuple[cst.FunctionDef, cst.Param]], functions: Sequence[cst.FunctionDef]
) -> str:
    """What to say of parameters that are not known, all at once; `functions` are those that run."""
    names = [parameter.name.value for _, parameter in unknown]
    of = " and ".join(dict.fromkeys(function.name.value for function, _ in unknown))
    known = "parameter {} of {} is not known" if len(names) == 1 else "parameters {} of {} are not known"
    said = known.format(_listed(names), of)
    values = [suggested(file, parameter, functions) for _, parameter in unknown]
    if not all(values):
        objects = [name for name, value in zip(names, values, strict=True) if not value]
        first = unknown[0][0]
        owner = file.class_of(first)
        call = first.name.value if first.name.value != "__init__" or owner is None else owner.name.value
        return f"{said}, and no comment can give {_listed(objects)}: add a call of {call} to the file"
    comment = " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
    say = "say what it is in a comment" if len(names) == 1 else "say what they are in a comment"
    return f"{said}; {say}: # tfmemlint: example {comment}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def is_unread(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef], methods: Sequence[Node]) -> bool:
    """Whether nothing reads a parameter that a constructor no more than keeps in its object; `methods` are those of
    the class that run."""
    own = next(each for each in functions if any(other is parameter for other in parameters(each)))
    uses = file.home(own).places(parameter.name.value).bound_in(own)
    stored = [_stored(file, use) for use in uses]
    if None in stored:
        return False
    reads = (node for method in methods for node in walk(method) if isinstance(node, cst.Attribute))
    return not any(dotted(node) in stored and not _is_written(file, node) for node in reads)


def _is_written(file: File, node: Node) -> bool:
    return isinstance(file.tree.parent(node), (cst.AssignTarget, cst.AnnAssign))


def suggested(file: File, parameter: cst.Param, functions: Sequence[cst.FunctionDef]) -> str:
    """A value for an example comment that fits name, annotation and use of a parameter; empty for objects."""
    if is_object(file, parameter, functions):
        return ""
    name = parameter.name.value
    words = [part.lower() for part in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]
    if (words[:1] and words[0] in COUNTS and len(words) > 1) or is_size(name) or name in SINGLE:
        return "10"
    if words[:2] == ["batch", "size"]:
        return "32"
    by_annotation = next((BY_ANNOTATION[word] for word in annotated(parameter) if word in BY_ANNOTATION), None)
    for word in reversed(words):
        value = next((value for pattern, value in SUGGESTED if re.fullmatch(pattern, word)), None)
        if value is not None and not (promises_array(parameter) and "[" not in value):
            return value if value or by_annotation is None else by_annotation
    uses = uses_of(file, parameter, functions)
    keys = dict.fromkeys(key for use in uses if (key := _key(file, use)) is not None)
    if keys:
        return "{" + ", ".join(f"{key}: 10" for key in keys) + "}"
    if any(is_text(file, use) for use in uses):
        return '"text"'
    if any(isinstance(file.tree.parent(use), (cst.If, cst.IfExp)) for use in uses):
        return "True"
    number = usual(name) if is_number(name) else None
    return by_annotation or (repr(number) if number is not None else "float32[32,10]")


def _key(file: File, use: Node) -> str | None:
    """The key, as it is written, by which a value is taken of a dictionary."""
    parent = file.tree.parent(use)
    if not isinstance(parent, cst.Subscript) or parent.value is not use or len(parent.slice) != 1:
        return None
    index = parent.slice[0].slice
    value = index.value if isinstance(index, cst.Index) else None
    return value.value if isinstance(value, cst.SimpleString) else None
