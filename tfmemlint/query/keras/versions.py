"""Whether a program is written for Keras 2, or for Keras before it was TensorFlow's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api, Function, constant, integer
from tfmemlint.model.versions import asked_for, asks_for_later_keras, runs_on_first_alone
from tfmemlint.query.facts import calls_named, calls_passing
from tfmemlint.query.flow.endings import ending
from tfmemlint.query.keras.models import is_model
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.scopes import Binds, dotted, parameters, written
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

LEGACY = "TF_USE_LEGACY_KERAS"
OPTIMIZERS = "tf.keras.optimizers."
OF_GENERATORS = ("fit_generator", "evaluate_generator", "predict_generator")
"""Methods of models that Keras 3 does not have, and no other library has."""

GONE_METHODS = (*OF_GENERATORS, "predict_classes", "predict_proba", "reset_states")
"""Methods of models that Keras 3 does not have; other libraries have some of them, and layers the last."""

WORKERS = ("max_queue_size", "use_multiprocessing", "workers")
"""Parameters of `fit` that a `PyDataset` has in Keras 3."""

ENDINGS = {True: (".weights.h5",), False: (".keras", ".h5")}
"""How the names of a checkpoint's files end in Keras 3, by whether it saves nothing but weights."""

SAVES = {"save_weights": (".weights.h5",), "save": (".keras", ".h5", ".hdf5")}
"""How the names of files end in Keras 3, by the method of a model that writes them."""


WITH_FILES = ("ModelCheckpoint", "load_model", "save", "save_model")
"""What takes the name of a file with a whole model."""


@once_per_file
def keras_2(file: File) -> bool:
    """Whether the program certainly runs on Keras 2: it imports `tf_keras`, names the variable of the environment that
    chooses it, its project requires it, it uses what Keras 3 lacks, with no `if` or `try` around it, or a module that
    it imports takes such from Keras, or one that imports it does or trains a model from a generator as only Keras 2
    does. False where nothing shows it."""
    texts = (text for text in file.tree.of(cst.SimpleString) if not isinstance(file.tree.parent(text), cst.Expr))
    imports = [d for found in file.flow(file.module).end.values() for d in written(found) if d.binds is Binds.IMPORT]
    if any(d.api.partition(".")[0] == "tf_keras" for d in imports) or any(LEGACY in text.value for text in texts):
        return True
    required = asked_for(file)
    if required.tensorflow < (2, 16) or required.keras < (3,):
        return True
    paths = (*((d.api, d.node) for d in imports), *_paths(file, {d.name: d.api for d in imports}))
    gone = (node for path, node in paths if knowledge.of_keras_2(path))
    if any(next(conditions(file, node), None) is None for node in (*gone, *_refused(file))):
        return True
    around = (path for text in file.around for path in text.plain)
    if any(path.partition(".")[0] == "tf_keras" or knowledge.of_keras_2(path) for path in around):
        return True
    return _is_imported_for_keras_2(file)


FREES_TRAINED = (2, 4), (2, 11)
"""The first TensorFlow whose garbage collector frees models that `fit` trained, and the first whose does not. Measured
on the CPU with 2.4.4 and 2.10.1, 15 models of 16 MiB of weights with Adam: from the first to the last 740 to 860 MiB
more, also with `clear_session()` before each, and 100 to 130 MiB with `gc.collect()`."""


def frees_trained(file: File) -> bool:
    """Whether the program certainly runs on a TensorFlow whose garbage collector frees models that `fit` trained."""
    first, behind = FREES_TRAINED
    return first <= asked_for(file).tensorflow < behind


def _is_imported_for_keras_2(file: File) -> bool:
    for path in file.siblings.importers(OF_GENERATORS) if file.siblings is not None else ():
        program = file.link(path)
        nodes = (n for word in OF_GENERATORS for n in program.calls_by_word.get(word, ())) if program else ()
        if any(not isinstance(file.call(node).target, Function) for node in nodes):
            return True
    return False


@once_per_file
def own_engine(file: File) -> bool:
    """Whether the program certainly runs on Keras as it was until 2.3, a library with an engine of its own, which makes
    no data set for `predict` and takes no arrays by a call of the model: it, a module that it imports or one that
    imports it takes from Keras what was gone with that, or it gives layers initializers that later ones cannot call."""
    paths = _imported_paths(file)
    if any(path.startswith("tensorflow.keras") for path in paths):
        return False  # some libraries for it need what came with Keras
    if any(_is_with_keras(text.plain) and any(map(knowledge.of_own_engine, text.plain)) for text in file.around):
        return True
    if not _is_with_keras(paths):
        return False
    old = asked_for(file).keras < (2, 4) or any(text.python_2 for text in file.around)
    if old or any(map(knowledge.of_own_engine, paths)):
        return True
    return any(_initializes_untyped(file))


@once_per_file
def may_have_own_engine(file: File) -> bool:
    """Whether the program may run on Keras as it was until 2.3: certainly, or it or a module around it takes layers
    from where the library had them in those years, and nothing tells of `tf.keras`; or another program of its folder
    is of those years, and it takes Keras itself from there, too."""
    if own_engine(file):
        return True
    all_paths = (_imported_paths(file), *(text.plain for text in file.around))
    if any(path.startswith("tensorflow.keras") for paths in all_paths for path in paths):
        return False
    old = knowledge.of_first_keras, knowledge.of_other_engine
    if any(tells(path) for paths in all_paths for path in paths for tells in old):
        return True
    beside = file.siblings.beside("keras") if file.siblings is not None and _is_with_keras(all_paths[0]) else []
    return any(_takes_first_keras(text.plain, runs_on_first_alone(text)) for text in beside)


@once_per_file
def engine_unknown(file: File) -> bool:
    """Whether the program takes Keras from its own package, and nothing tells whether that is one with an engine of its
    own, as until 2.3, or a later one, of TensorFlow 2: neither what it or a module around it uses, nor what its project
    requires, nor the files that it saves. False where nothing takes Keras so."""
    imported = _imported_paths(file)
    if not any(map(_is_with_keras, (imported, *(text.plain for text in file.around)))) or may_have_own_engine(file):
        return False
    if asks_for_later_keras(file) or file.says_version_2 or any(_saves_as_later_keras(file)):
        return False
    around = (name for text in file.around for name in (*text.imports, *(f"tensorflow.{name}" for name in text.of_tf)))
    return not any(map(knowledge.of_later_keras, (*around, *_named(file))))


def _named(file: File) -> Iterator[str]:
    """What the program imports, also where only some of its runs do, and what it certainly names below that."""
    for statement in file.tree.of(cst.Import, cst.ImportFrom):
        yield from _imported(statement)
    bound = (d for found in file.flow(file.module).end.values() for d in written(found) if d.binds is Binds.IMPORT)
    for path, node in _paths(file, {d.name: d.api for d in bound}):
        if next(conditions(file, node), None) is None:
            yield path


def _saves_as_later_keras(file: File) -> Iterator[cst.Call]:
    """The calls that write or read a file in the format of Keras 3, `.keras`, which 2.12 was the first to have."""
    for node in (each for word in WITH_FILES for each in file.calls_by_word.get(word, ())):
        if any((ending(file, arg.value) or "").endswith(ENDINGS[False][0]) for arg in node.args):
            yield node


def _takes_first_keras(paths: frozenset[str], on_first_alone: bool) -> bool:
    """Whether a module takes Keras from its own package, and of it what was gone with 2.3, imports what Keras ran on
    beside TensorFlow, or runs on the first version of that alone, as no later Keras does."""
    if not _is_with_keras(paths) or any(path.startswith("tensorflow.keras") for path in paths):
        return False
    old = any(knowledge.of_own_engine(path) or knowledge.of_other_engine(path) for path in paths)
    return old or on_first_alone


@once_per_file
def lacks_validation(file: File) -> bool:
    """Whether callbacks that look at a model's weights have nothing to do: Keras until 2.3, and that of version 1, does
    so only where it is given validation data, and no training of the file is. False where nothing trains here."""
    if not (file.may_be_version_1 or may_have_own_engine(file)):
        return False
    trainings = [call for call in calls_named("fit", "fit_generator").of(file) if "callbacks" in _keywords(call)]
    validates = any(any(word.startswith("validation_") for word in _keywords(call)) for call in trainings)
    return bool(trainings) and not validates and not any(call.open for call in trainings)


def _keywords(call: Call) -> set[str]:
    return {arg.keyword.value for arg in call.node.args if arg.keyword is not None}


@once_per_file
def _imported_paths(file: File) -> frozenset[str]:
    """What the program certainly imports, by dotted names."""
    imports: list[cst.Import | cst.ImportFrom] = [*file.tree.of(cst.Import), *file.tree.of(cst.ImportFrom)]
    return frozenset(p for node in imports if next(conditions(file, node), None) is None for p in _imported(node))


def _is_with_keras(paths: frozenset[str]) -> bool:
    return any(path.partition(".")[0] == "keras" for path in paths)


def _initializes_untyped(file: File) -> Iterator[cst.Arg]:
    """The layers' initializers that are functions of the module without a `dtype`, which Keras passes since 2.3."""
    for arg in file.tree.of(cst.Arg):
        made = file.value(arg.value) if arg.keyword is not None and arg.keyword.value.endswith("_initializer") else None
        if isinstance(made, Function) and next(conditions(file, arg), None) is None:
            named = {each.name.value for each in parameters(made.node)}
            layer = file.tree.parent(arg)
            of_keras = isinstance(layer, cst.Call) and (file.call(layer).name or "").startswith("tf.keras.layers.")
            if of_keras and "dtype" not in named and made.node.params.star_kwarg is None:
                yield arg


def _imported(node: cst.Import | cst.ImportFrom) -> list[str]:
    """The modules that an import names, with what it takes from them."""
    if isinstance(node, cst.Import):
        return [dotted(alias.name) or "" for alias in node.names]
    module = dotted(node.module) if node.module is not None and not node.relative else None
    names = node.names if not isinstance(node.names, cst.ImportStar) else ()
    return [f"{module}.{dotted(alias.name)}" for alias in names] if module is not None else []


def _paths(file: File, imported: dict[str, str]) -> Iterator[tuple[str, Node]]:
    """What the program names below its imports, as it writes them: `keras.backend.mean`."""
    for node in file.tree.of(cst.Attribute):
        path, root = dotted(node), node.value
        while isinstance(root, cst.Attribute):
            root = root.value
        api = imported.get(root.value) if isinstance(root, cst.Name) else None
        if path is not None and api is not None and file.value(root) == Api(knowledge.canonical(api)):
            yield f"{api}.{path.partition('.')[2]}", node


def _refused(file: File) -> Iterator[Node]:
    """Calls that Keras 3 refuses, or of which it leaves a part out: an optimizer's rate is its `learning_rate` there,
    and falls by no `decay`, the names of files with nothing but weights end in `.weights.h5` and those of whole models
    in `.keras` or `.h5`, data sets have workers rather than `fit`, and one number is no shape."""
    for call in (each for word in ("lr", "decay") for each in calls_passing(word).of(file)):
        if (call.name or "").startswith(OPTIMIZERS):
            yield call.node
    for call in file.calls("tf.keras.callbacks.ModelCheckpoint"):
        given, asked = call.arg("filepath"), call.arg("save_weights_only")
        path = ending(file, given.expression) if given is not None else None
        if any(arg.star for arg in call.node.args):
            continue
        part = constant(asked.value) if asked is not None else False
        if path is not None and part in ENDINGS and not path.endswith(ENDINGS[part]):
            yield call.node
    for method, endings in SAVES.items():
        for call in file.calls(f"tf.keras.Model.{method}"):
            first = call.arg("filepath") or call.arg(0)
            path = ending(file, first.expression) if first is not None else None
            if path is not None and not path.endswith(endings):
                yield call.node
    for call in (each for word in WORKERS for each in calls_passing(word).of(file)):
        if call.name in ("tf.keras.Model.fit", "tf.keras.Model.predict", "tf.keras.Model.evaluate"):
            yield call.node
    for call in file.calls("tf.keras.Input", "tf.keras.layers.InputLayer"):
        if integer(call.value_of("shape")) is not None:
            yield call.node
    for call in calls_passing("batch_input_shape").of(file):
        if (call.name or "").startswith("tf.keras.layers."):
            yield call.node
    for call in calls_named(*GONE_METHODS).of(file):
        of_keras = call.method in OF_GENERATORS or is_model(file, call.receiver)
        if of_keras and not isinstance(call.target, Function):
            yield call.node
