"""What a program expects around it and does not find: modules, a notebook, an older TensorFlow or Keras; loaded by
`main.py`.

Nothing here lets a program go on with wrong data: what a missing module would compute raises an error that names it.
Each thing that takes effect is noted.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import sys
import types
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]
Change = Callable[[types.ModuleType], None]

ANSWER = (
    *("absent_names", "addons", "arguments", "around_files", "contrib", "fetching", "files", "frames", "here"),
    *("estimators", "imutils_here", "missing", "probability_here"),
    *("loaded", "networks", "old_estimators", "older", "older_libraries", "older_pandas", "pandas_here", "series"),
    *("sklearn_here", "summaries", "surroundings", "tables", "tf_files", "weights"),
)
"""The modules beside this one that answer for a program."""

BOTH = ("config", "image", "io", "keras", "linalg", "losses", "math", "nn", "random", "strings")
"""Modules of TensorFlow 1 that get what only those of TensorFlow 2 have: programs that use both run on the first."""

EAGER = "enable_eager_execution("
"""What a program for TensorFlow 1 says to run as those for TensorFlow 2 do."""


def asked_by(own: str) -> Callable[[], bool]:
    """A function that tells whether it is called on behalf of a file in this folder, with nothing between them but
    the functions that answer for it and the import system."""
    here = os.path.dirname(os.path.abspath(__file__))
    between = (*(os.path.join(here, f"{name}.py") for name in ANSWER), pathlib.__file__)

    def asked() -> bool:
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(own):
                return True
            if "importlib" not in name and not name.startswith(between):
                return False
            frame = frame.f_back
        return False

    return asked


class Notebook:
    """What `get_ipython()` gives in a notebook, where nothing is asked of it that a program needs."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: []


def install(program: str, request: dict[str, Any], substitutes: Any, load: Callable[[str], Any]) -> None:
    """Put all of this around a program that is about to run; `load` gives a module beside this one, `substitutes` makes
    up data and is told what was replaced. TensorFlow must have been imported."""
    note, made_up, data = substitutes.note, substitutes.made_up, substitutes.data
    work = os.path.dirname(program)
    asked = asked_by(os.path.join(work, ""))
    missing = load("missing")
    Missing = missing.Missing
    Missing.asked = staticmethod(asked)
    Missing.bar = staticmethod(load("bars").Bar)
    Missing.network = staticmethod(load("networks").Networks(made_up).make)
    Missing.note = staticmethod(note)
    builtins.get_ipython = Notebook  # type: ignore[attr-defined]
    older = load("older")
    if request.get("version_1") or request.get("keras_2"):
        _take_keras_2(note, older)
    if request.get("version_1"):
        eager = EAGER in "\n".join((request.get("source") or "", *request.get("modules", ())))
        _go_back_to_version_1(note, eager)
        if not eager:
            older.be_without_eager()
        load("contrib").Finder(older.OldModule, Missing, note).install()
    load("old_estimators").install(note)
    keras = _all_keras()
    pictures = load("pictures")
    pictures.of_keras()
    marked = "marked=True" in (request.get("source") or "")
    sys.meta_path.append(load("estimators").Estimators(asked, marked, substitutes.rounds, note))
    finder = older.Older(asked, Missing, note)
    finder.install()
    load("absent_names").AbsentNames(os.path.join(work, ""), asked, Missing, note).install()
    contents, records, source = load("contents"), load("records"), request.get("source") or ""
    texts = "\n".join([source, *request.get("modules", ())])  # its own modules read files, too
    wanted = {**request, "source": texts}
    files = (reading := load("files")).Files(asked, wanted, work, (note, made_up), (contents, records))
    load("imutils_here").Imutils(asked, files.folder, note).install()
    load("addons").Addons(asked, older.OldModule, Missing, made_up).install()
    sklearn_data = load("sklearn_data")
    of_sklearn = sklearn_data.SklearnData(note)
    load("sklearn_here").Sklearn(asked, missing.MissingModule, of_sklearn, sklearn_data.TABLES, note).install()
    weights = load("weights").Weights(os.path.join(files.root, "fetched"), note, made_up)
    load("fetching").Fetching(asked, files.file, os.path.join(files.root, "fetched"), note).install()
    _put_everywhere([pair for each in keras for made in (files, weights) for pair in made.of_keras(each)])
    load("tf_files").TensorFlowFiles(files).install()
    load("csv_data").install(files.root, files.there, made_up)
    of_texts = '("string",' in source
    records.Parsed(lambda: of_texts or files.has_records, contents.png(), load("usual").usual).install()
    files.install()
    around = load("around_files").AroundFiles(files, contents, load("usual").usual, note)
    around.install()
    many = bool(request.get("many"))
    columns = functools.partial(load("columns").Columns, asked=request.get("columns", ()))
    tables = load("tables").Tables(texts, asked, files.there, files.root, made_up, data, columns, many)
    changes = dict.fromkeys(reading.READERS, files.patch_reader)
    hooks: Any = builtins
    catalogue = load("catalogue").Catalogue(
        lambda *made: hooks.tfmemlint_dataset(*made), note, made_up, many
    )
    of_older = load("older_pandas").patcher(note)
    changes.update({"pandas": _both(of_older, tables.patch), "polars": tables.patch_polars})
    changes.update({"tensorflow_datasets": catalogue.patch, "tqdm.notebook": _without_widgets})
    changes.update(dict.fromkeys(("json", "yaml"), contents.patch_settings))
    changes.update({"nltk": load("words").Words(made_up).patch, "sklearn.preprocessing": older.encoders(note)})
    changes["sklearn.model_selection"] = load("parts").by_class(lambda: bool(substitutes.rounds["sizes_made_up"]), note)
    changes["sklearn.datasets"] = _both(of_sklearn.patch, files.patch_reader)
    older_libraries = load("older_libraries")
    frames = load("frames")
    of_pandas = load("pandas_here").filler(frames, tables.patch), "tables of NumPy's arrays stand for those that it has"
    fills = {"pandas": of_pandas, "tensorflow_datasets": (catalogue.patch, "its catalogue gives made-up elements")}
    fills.update({**pictures.FILLS, **load("small_libraries").fills(load("usual").usual, texts)})
    fills.update(load("probability_here").fills())
    load("here").Here(asked, missing.MissingModule, fills, note).install()
    sys.meta_path.append(missing.MissingModules(asked, note))
    libraries = older_libraries.OlderLibraries(asked, functools.partial(files.file, like=".png"), note)
    libraries.install()
    changes[older_libraries.IMAGES] = libraries.pictures
    loaded = load("loaded").Loaded(asked, files.there, files.root, load("usual").words_of, made_up, data.rows)
    changes.update({**loaded.changes(), **around.changes(), **load("summaries").changes(note)})
    load("imported").Imported(changes).install()
    load("own_keras").install(texts, finder, note)
    load("aliases").bind(source, note)
    load("arguments").install(asked, note, made_up, texts, load("usual").usual)


def _both(first: Change, second: Change) -> Change:
    def change(module: types.ModuleType) -> None:
        first(module)
        second(module)

    return change


def _without_widgets(bars: types.ModuleType) -> None:
    """Let the progress bars of notebooks be those of terminals, which need no widgets."""
    plain: Any = importlib.import_module("tqdm")
    vars(bars).update(tqdm=plain.tqdm, tqdm_notebook=plain.tqdm, trange=plain.trange, tnrange=plain.trange)


def _all_keras() -> list[Any]:
    """Keras as the program imports it, and what `tf.keras` is, where that is another one."""
    keras, own = importlib.import_module("keras"), sys.modules["tensorflow"].keras
    same = getattr(own, "Model", None) is keras.Model
    return [own] if same else [keras, own]


def _put_everywhere(pairs: list[tuple[Any, Any]]) -> None:
    """Put functions in the place of others in all modules of Keras, also in those that import them later."""
    new = {id(function): (function, other) for function, other in pairs}
    for name, module in list(sys.modules.items()):
        if name.startswith(("keras", "tf_keras", "tensorflow.keras")) and isinstance(module, types.ModuleType):
            for word, value in list(vars(module).items()):
                if id(value) in new and new[id(value)][0] is value:
                    setattr(module, word, new[id(value)][1])


def _take_keras_2(note: Note, older: Any) -> None:
    """Let Keras be Keras 2, where that is installed and nothing has asked for Keras yet."""
    if importlib.util.find_spec("tf_keras") is not None:
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        older.be_keras_2()
        note("Keras is tf_keras here, as the code is written for Keras 2")


def _go_back_to_version_1(note: Note, eager: bool) -> None:
    """Let `tensorflow` be what TensorFlow 2 keeps of version 1, `eager` for a program that turns that on. The eager
    runtime is started first: sessions share its allocator, which tells its figures only there. Where Keras lies, only
    TensorFlow 2 tells the import system."""
    tensorflow, version_1 = sys.modules["tensorflow"], importlib.import_module("tensorflow.compat.v1")
    tensorflow.zeros([1])
    if eager:
        version_1.disable_v2_tensorshape()
        names: Any = version_1
        names.enable_eager_execution = lambda *_, **__: None
    else:
        version_1.disable_v2_behavior()
    version_1.__path__ = [*version_1.__path__, *tensorflow.__path__]
    for name in BOTH:
        later, first = getattr(tensorflow, name), getattr(version_1, name)
        for word in dir(later):
            if not word.startswith("_") and not hasattr(first, word):
                setattr(first, word, getattr(later, word))
    sys.modules["tensorflow"] = version_1
    how = ", and runs eagerly" if eager else ""
    note(f"tensorflow is tensorflow.compat.v1 here, as the code is written for version 1{how}")
