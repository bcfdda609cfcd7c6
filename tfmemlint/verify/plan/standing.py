"""What stands in for a parameter that nobody passes and of which no shape can be solved: a model, settings, a number.

What is done with it tells the role: the attributes and items that are asked of it here and in the functions of the
project that it is handed to, then its annotation, then its name. It is the last resort: programs that it goes into are
believed only where they confirm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import dotted
from tfmemlint.verify.child.usual import holds_settings, is_size, usual, words_of
from tfmemlint.verify.plan.evidence_of import Evidence, EvidenceOf
from tfmemlint.verify.plan.objects import Path, dotted_path, holding, operand_path
from tfmemlint.verify.plan.roles import annotated, is_watched, promises_array, uses_of
from tfmemlint.verify.plan.settings import fields_of
from tfmemlint.verify.plan.solving import CHANNELS, CLASSES, FEATURES, FULL, Solved, Solver

MODEL, FUNCTIONAL, OPTIMIZER, LOSS, METRIC = "model", "functional", "optimizer", "loss", "metric"
STRATEGY, DATASET, SETTINGS, OBJECT, FUNCTION = "strategy", "dataset", "settings", "object", "function"
TEXT, VALUE, ARRAY, ARRAYS = "text", "value", "array", "arrays"

OF_ROLES: tuple[tuple[str, frozenset[str]], ...] = (
    (FUNCTIONAL, frozenset({"get_layer", "input", "output", "inputs", "outputs", "input_shape", "output_shape"})),
    (MODEL, frozenset({
        "trainable_variables", "trainable_weights", "predict", "fit", "evaluate", "compile", "summary", "layers",
        "save_weights", "load_weights", "get_weights", "set_weights", "train_on_batch", "predict_on_batch",
        "test_on_batch", "weights", "non_trainable_weights", "losses", "count_params", "to_json",
    })),
    (OPTIMIZER, frozenset({"apply_gradients", "minimize", "get_gradients", "compute_gradients", "get_scaled_loss"})),
    (STRATEGY, frozenset({
        "scope", "num_replicas_in_sync", "experimental_distribute_dataset", "experimental_run_v2", "extended",
        "distribute_datasets_from_function", "experimental_distribute_datasets_from_function",
    })),
    (METRIC, frozenset({"update_state", "result", "reset_states", "reset_state"})),
    (DATASET, frozenset({
        "batch", "padded_batch", "prefetch", "shuffle", "repeat", "take", "skip", "cache", "unbatch", "interleave",
        "as_numpy_iterator", "with_options", "make_one_shot_iterator", "element_spec", "cardinality", "map",
    })),
)  # fmt: skip
"""Roles by the attributes that only they have, the more telling ones first."""

BY_ANNOTATION = {
    "Model": MODEL, "Sequential": MODEL, "Layer": MODEL, "Optimizer": OPTIMIZER, "Loss": LOSS, "Metric": METRIC,
    "Strategy": STRATEGY, "Dataset": DATASET, "Namespace": SETTINGS, "ConfigDict": SETTINGS, "dict": SETTINGS,
    "Dict": SETTINGS, "Mapping": SETTINGS, "Callable": FUNCTION, "str": TEXT, "Path": TEXT, "PathLike": TEXT,
    "int": VALUE, "float": VALUE, "bool": VALUE, "tuple": ARRAYS, "Tuple": ARRAYS,
}  # fmt: skip
MODELS = frozenset({
    "model", "net", "network", "encoder", "decoder", "generator", "discriminator", "critic", "backbone", "classifier",
    "actor", "policy", "teacher", "student", "d", "g", "gen", "disc",
})  # fmt: skip
"""Last words of the names of models."""

LABELS = frozenset({"y", "label", "labels", "target", "targets", "classes", "truth", "gt", "true"})
IMAGES = frozenset({"image", "images", "img", "imgs", "picture", "pictures", "frame", "frames", "photo", "photos"})
BATCH, ELEMENTS = 32, 64
COMMAND_LINE = frozenset(("argv", "unused_argv", "unused"))


class Standing:
    """Stand-ins for the parameters of functions of a file that run together; arrays of `target` bytes."""

    def __init__(self, file: File, functions: Sequence[cst.FunctionDef], target: int = FULL) -> None:
        self.file, self.functions = file, functions
        self.large = target >= FULL
        self._evidence = EvidenceOf(file, functions)

    def role(self, parameter: cst.Param) -> str:
        """What a parameter is."""
        evidence, name = self._evidence.of(parameter), parameter.name.value
        if promises_array(parameter):
            return ARRAY
        if name.strip("_") in COMMAND_LINE or (is_size(name) and not annotated(parameter) - {"int", "Optional"}):
            return VALUE
        by_annotation = next((BY_ANNOTATION[word] for word in annotated(parameter) if word in BY_ANNOTATION), None)
        by_use = next((role for role, words in OF_ROLES if not words.isdisjoint(evidence.asked)), None)
        last = (words_of(name) or [""])[-1]
        if by_use == FUNCTIONAL and last not in MODELS and by_annotation != MODEL:
            by_use = MODEL if not OF_ROLES[1][1].isdisjoint(evidence.asked) else None
        if by_use == DATASET and evidence.asked <= {"map", "take", "cache", "skip", "repeat"} and last not in (
            "dataset", "ds", "data", "train", "test", "val"
        ):  # fmt: skip
            by_use = None
        if by_use in (None, DATASET) and holds_settings(name):
            by_use = SETTINGS
        if by_annotation == ARRAYS and (usual(name) is not None or not annotated(parameter).isdisjoint(("int", "str"))):
            by_annotation = VALUE
        if by_use is not None or by_annotation is not None:
            return by_use or by_annotation or ""
        return self._by_name(evidence, name, last)

    def _by_name(self, evidence: Evidence, name: str, last: str) -> str:
        if evidence.counts:
            return VALUE
        if evidence.called:
            if last in MODELS:
                return MODEL
            return LOSS if last in ("loss", "criterion") or words_of(name)[:1] == ["loss"] else FUNCTION
        if evidence.compared is not None or evidence.is_text:
            return TEXT
        if evidence.asked:
            return OBJECT
        if evidence.keys:
            return SETTINGS
        if _is_label(name) or last in IMAGES or name in ("x", "X", "inputs", "features", "data", "batch"):
            return ARRAY
        if evidence.loops:
            return DATASET
        if last in MODELS:
            return MODEL
        if last in ("optimizer", "opt", "strategy", "dataset", "ds"):
            return {"strategy": STRATEGY, "dataset": DATASET, "ds": DATASET}.get(last, OPTIMIZER)
        return VALUE if usual(name) is not None or evidence.tested else ARRAY

    def tell(self, unknown: Sequence[cst.Param], solver: Solver) -> list[cst.Param]:
        """Have the models among these parameters solved, which are returned, and the arrays by name that no operation
        needs an array of."""
        models = [each for each in unknown if self.role(each) == MODEL]
        solver.models |= {id(each) for each in models}
        for each in unknown:
            if self.role(each) == ARRAY and not promises_array(each):
                labels = _is_label(each.name.value)
                images = (words_of(each.name.value) or [""])[-1] in IMAGES
                sparse = labels and self._is_sparse()
                solver.hinted[id(each)] = (1, 2) if sparse else (4, 3) if images else (2, 3, 4, 1)
                solver.whole |= {id(each)} if sparse else set()
                solver.widths[id(each)] = CHANNELS if images else CLASSES if labels else FEATURES
        return models

    def is_light(self, parameter: cst.Param) -> bool:
        """Whether it is a number, a text or settings, which people write down themselves."""
        return self.role(parameter) in (TEXT, VALUE, SETTINGS)

    def is_sized(self, parameter: cst.Param) -> bool:
        """Whether what stands in for it has sizes that nothing tells."""
        return self.role(parameter) in (ARRAY, ARRAYS, DATASET)

    def parts(self, parameter: cst.Param) -> dict[str, Path]:
        """The attributes of an object that may be arrays, by what is written."""
        role = self.role(parameter)
        uses = uses_of(self.file, parameter, self.functions) if role in (OBJECT, SETTINGS) else []
        found = [(use, operand_path(self.file, use)) for use in uses]
        return {dotted_path(use, path): path for use, path in found if path and (path[0][0] == "key" or role == OBJECT)}

    def made(self, parameter: cst.Param, parts: Mapping[Path, str] | None = None) -> Solved:
        """What stands in for a parameter, with code for `parts` of it."""
        role, name = self.role(parameter), parameter.name.value
        if role in (TEXT, VALUE):
            value = self._value(parameter, role)
            return Solved(value, f"{name} is made up as {value}: nothing in the project passes it")
        if role in (ARRAY, ARRAYS, DATASET):
            code = {ARRAY: self._array, ARRAYS: self._arrays, DATASET: self._dataset}[role](parameter)
            return Solved(code, f"{name} is made up as {code.removeprefix('tfmemlint_')}: nothing tells its shape")
        if role == FUNCTIONAL:
            return Solved(
                f'tfmemlint_model("{name}", functional=True)', f"{name} is made up as a small model of images"
            )
        words = {MODEL: "a small model of one layer", SETTINGS: "settings of usual values"}
        words |= {LOSS: "the mean of what is predicted", FUNCTION: "a function that gives what it is given"}
        words |= {STRATEGY: "the strategy of one device"}
        if role == OBJECT or parts:
            return Solved(holding(name, parts or {}), f"{name} is made up as an object")
        fields = self._fields(parameter) if role == SETTINGS else ""
        return Solved(f'tfmemlint_{role}("{name}"{fields})', f"{name} is made up as {words.get(role, role)}")

    # -- values ------------------------------------------------------------------------------------------------------

    def _value(self, parameter: cst.Param, role: str) -> str:
        evidence, name = self._evidence.of(parameter), parameter.name.value
        if name.strip("_") in COMMAND_LINE:
            return '["program"]'
        if evidence.is_path:
            return f'__import__("pathlib").Path({str(usual(name) or "folder")!r})'
        if evidence.compared is not None:
            return evidence.compared
        value, words = usual(name), annotated(parameter)
        if not words.isdisjoint(("tuple", "Tuple")) or name.endswith("shape"):
            return self._sizes(name, words)
        if "str" in words or (role == TEXT and not isinstance(value, (str, int, float))):
            return repr(value if isinstance(value, str) else "text")
        if "bool" in words:
            return repr(value if isinstance(value, bool) else True)
        if "int" in words:
            return repr(value if isinstance(value, int) and not isinstance(value, bool) else 10)
        return repr(value if value is not None else True if evidence.tested else 10)

    def _sizes(self, name: str, words: frozenset[str]) -> str:
        """Several of a value, as many as a shape of that name has."""
        value = usual(name)
        number = value if isinstance(value, int) and not isinstance(value, bool) else 64
        if "str" in words:
            return '("text", "text")'
        image = not {"image", "img", "input"}.isdisjoint(words_of(name)) and name.endswith("shape")
        return f"({number}, {number}, 3)" if image else f"({number}, {number})"

    def _array(self, parameter: cst.Param) -> str:
        maker = "tensor" if is_watched(self.file, parameter, self.functions) else "array"
        return f"tfmemlint_{maker}{self._spec(parameter.name.value, 1024 if self.large else 256)}"

    def _arrays(self, parameter: cst.Param) -> str:
        rows = 1024 if self.large else 256
        sparse = self._is_sparse()
        label = f'"int64", ({rows},)' if sparse else f'"float32", ({rows}, {CLASSES})'
        return f'(tfmemlint_array("float32", ({rows}, 4096)), tfmemlint_array({label}))'

    def _spec(self, name: str, rows: int | None) -> str:
        """Dtype and shape of an array of that name, or of one element where no rows are asked for."""
        last, head = (words_of(name) or [""])[-1], (rows,) if rows is not None else ()
        if _is_label(name):
            return str(("int64", head) if self._is_sparse() else ("float32", (*head, CLASSES))).replace("'", '"')
        if last in IMAGES:
            side = 128 if self.large and (rows or 0) <= BATCH else 64
            return str(("float32", (*head, side, side, 3))).replace("'", '"')
        width = 4096 if self.large or (rows or 0) > BATCH else 1024
        return str(("float32", (*head, width))).replace("'", '"')

    def _dataset(self, parameter: cst.Param) -> str:
        """A data set of elements by the names that a loop gives them; of batches where one goes over it."""
        evidence = self._evidence.of(parameter)
        batched = "batch" not in evidence.asked and "padded_batch" not in evidence.asked
        names = next((found for loop in evidence.loops if (found := self._targets(loop))), ["x", "y"])
        specs = [self._spec(name, BATCH if batched else None) for name in names]
        element = specs[0] if len(specs) == 1 else f"[{', '.join(specs)}]"
        return f"tfmemlint_dataset({element}, {ELEMENTS if batched else ELEMENTS * BATCH})"

    def _targets(self, loop: cst.For) -> list[str]:
        """The names that a loop gives to an element, or to its parts."""
        target: cst.BaseExpression = loop.target
        call = loop.iter
        if isinstance(call, cst.Call) and dotted(call.func) == "enumerate" and isinstance(target, cst.Tuple):
            target = target.elements[-1].value
        if isinstance(target, cst.Tuple):
            return [each.value.value if isinstance(each.value, cst.Name) else "x" for each in target.elements]
        if not isinstance(target, cst.Name) or not isinstance(loop.body, cst.IndentedBlock):
            return []
        for statement in loop.body.body:
            small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
            if isinstance(small, cst.Assign) and dotted(small.value) == target.value:
                inner = small.targets[0].target
                if isinstance(inner, cst.Tuple):
                    return [each.value.value if isinstance(each.value, cst.Name) else "x" for each in inner.elements]
        return [target.value]

    def _is_sparse(self) -> bool:
        text = "".join(self.file.text(function) for function in self.functions).lower()
        return "sparse" in text or "one_hot" in text or "to_categorical" in text

    def _fields(self, parameter: cst.Param) -> str:
        """What is known of settings: the defaults that a parser of the command line has, texts that are compared."""
        text = "\n".join(self.file.text(function) for function in self.functions)
        return fields_of([self.file], parameter.name.value, text, self._evidence.of(parameter).asked)


def _is_label(name: str) -> bool:
    """Whether a name is one of labels: `labels`, `y_train`."""
    words = words_of(name)
    return bool(words) and (words[-1] in LABELS or words[0] == "y")
