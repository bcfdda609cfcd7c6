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
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Note = Callable[[str], None]
Change = Callable[[types.ModuleType], None]

ANSWER = (
    *("absent_names", "addons", "arguments", "contrib", "fetching", "files", "frames", "here", "imutils_here"),
    *("loaded", "networks", "older", "older_libraries", "older_pandas", "pandas_here", "series"),
    *("sklearn_here", "summaries", "surroundings", "tables", "tf_files", "weights"),
)
"""The modules beside this one that answer for a program."""

SHOWING = frozenset(("IPython", "matplotlib", "plotly", "seaborn", "wandb"))
"""Libraries that show data, and give nothing that a program computes with."""

BOTH = ("config", "image", "io", "keras", "linalg", "losses", "math", "nn", "random", "strings")
"""Modules of TensorFlow 1 that get what only those of TensorFlow 2 have: programs that use both run on the first."""

BARS = (".tqdm", ".tqdm_notebook", ".track", ".progressbar")
"""Functions that show how far a loop is, and give what they are given."""


class Missing:
    """Something of a module that is not installed. It can be named, be a base class, and be called by the program for
    what is no data; it computes nothing, and what asks for a value of it fails."""

    asked: Callable[[], bool] = staticmethod(lambda: False)
    """Whether the program's own files ask."""

    network: Callable[[str, Mapping[str, Any]], Any] = staticmethod(lambda path, options: None)
    """What stands for a network that is made with these arguments, None for what is none."""

    bar: Callable[[Any], Any] = staticmethod(lambda items: items)
    """What stands for a progress bar over these."""

    def __init__(self, path: str) -> None:
        self.__dict__["_path"] = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._path}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Settings of what is not there come to nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """As those of its attributes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name, given = self._path.partition(".")[0], [*args, *kwargs.values()]
        if len(given) == 1 and args and isinstance(args[0], (types.FunctionType, type)) and Missing.asked():
            return args[0]  # it decorates
        if name in sys.modules and not isinstance(sys.modules[name], _MissingModule):
            raise AttributeError(f"{self._path} is not there in the installed version")
        if self._path.endswith(BARS) and args:
            return Missing.bar(args[0])
        made = Missing.network(self._path, kwargs) if Missing.asked() else None
        if made is not None:
            return made
        if not Missing.asked() or (any(hasattr(type(each), "dtype") for each in given) and not self._shows()):
            self._needed()
        return Missing(self._path if self._path.endswith("()") else f"{self._path}()")

    def _needed(self, *_: Any, **__: Any) -> Any:
        name = self._path.partition(".")[0]
        call = self._path if self._path.endswith("()") else f"{self._path}()"
        raise ModuleNotFoundError(f"No module named '{name}', which {call} needs", name=name)

    def __iter__(self) -> Any:
        return iter((self, self)) if self._shows() else self._needed()  # of `figure, axes = plt.subplots()`

    def __getitem__(self, key: Any) -> Any:
        return self if self._shows() else self._needed()

    def _shows(self) -> bool:
        return self._path.partition(".")[0] in SHOWING

    def __enter__(self) -> Missing:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[Any, ...]:
        return ()


for _name in (
    *("array", "bool", "float", "index", "int", "len", "contains", "complex", "tf_tensor", "next"),
    *("add", "and", "floordiv", "ge", "gt", "le", "lt", "matmul", "mod", "mul", "neg", "or", "pow", "radd", "rmul"),
    *("rpow", "rsub", "rtruediv", "sub", "truediv", "abs"),
):
    setattr(Missing, f"__{_name}__", Missing._needed)


class MissingModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for modules that nobody finds, where the program's own files import them."""

    def __init__(self, asked: Callable[[], bool], note: Note) -> None:
        self._asked, self._note = asked, note

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not self._asked():
            return None
        head = fullname.partition(".")[0]
        if head in sys.modules and not isinstance(sys.modules[head], _MissingModule):
            return None  # it is there, in another version
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _MissingModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        head = module.__name__.partition(".")[0]
        self._note(f"{head} is not installed: it computes nothing, and code that needs a value of it was left to fail")


class _MissingModule(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


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
    Missing.asked = staticmethod(asked)
    Missing.bar = staticmethod(load("bars").Bar)
    Missing.network = staticmethod(load("networks").Networks(made_up).make)
    builtins.get_ipython = Notebook  # type: ignore[attr-defined]
    older = load("older")
    if request.get("version_1") or request.get("keras_2"):
        _take_keras_2(note, older)
    if request.get("version_1"):
        _go_back_to_version_1(note)
        load("contrib").Finder(older.OldModule, Missing, note).install()
    keras = _all_keras()
    pictures = load("pictures")
    pictures.of_keras()
    older.Older(asked, Missing, note).install()
    load("absent_names").AbsentNames(os.path.join(work, ""), asked, Missing, note).install()
    contents, records, source = load("contents"), load("records"), request.get("source") or ""
    texts = "\n".join([source, *request.get("modules", ())])  # its own modules read files, too
    wanted = {**request, "source": texts}
    files = (reading := load("files")).Files(asked, wanted, work, (note, made_up), (contents, records))
    load("imutils_here").Imutils(asked, files.folder, note).install()
    load("addons").Addons(asked, older.OldModule, Missing, made_up).install()
    sklearn_data = load("sklearn_data")
    of_sklearn = sklearn_data.SklearnData(note)
    load("sklearn_here").Sklearn(asked, _MissingModule, of_sklearn, sklearn_data.TABLES, note).install()
    weights = load("weights").Weights(os.path.join(files.root, "fetched"), note, made_up)
    load("fetching").Fetching(asked, files.file, os.path.join(files.root, "fetched"), note).install()
    _put_everywhere([pair for each in keras for made in (files, weights) for pair in made.of_keras(each)])
    load("tf_files").TensorFlowFiles(files).install()
    of_texts = '("string",' in source
    records.Parsed(lambda: of_texts or files.has_records, contents.png(), load("usual").usual).install()
    files.install()
    columns = load("columns").Columns
    tables = load("tables").Tables(texts, asked, files.there, files.root, made_up, data.rows, columns)
    changes = dict.fromkeys(reading.READERS, files.patch_reader)
    hooks: Any = builtins
    catalogue = load("catalogue").Catalogue(lambda *made: hooks.tfmemlint_dataset(*made), note, made_up)
    of_older = load("older_pandas").patcher(note)
    changes.update({"pandas": _both(of_older, tables.patch), "polars": tables.patch_polars})
    changes.update({"tensorflow_datasets": catalogue.patch, "tqdm.notebook": _without_widgets})
    changes.update(dict.fromkeys(("json", "yaml"), contents.patch_settings))
    changes.update({"nltk": load("words").Words(made_up).patch, "sklearn.preprocessing": older.encoders(note)})
    changes["sklearn.datasets"] = _both(of_sklearn.patch, files.patch_reader)
    older_libraries = load("older_libraries")
    frames = load("frames")
    of_pandas = load("pandas_here").filler(frames, tables.patch), "tables of NumPy's arrays stand for those that it has"
    fills = {"pandas": of_pandas, "tensorflow_datasets": (catalogue.patch, "its catalogue gives made-up elements")}
    fills.update({**pictures.FILLS, **load("small_libraries").fills(load("usual").usual)})
    load("here").Here(asked, _MissingModule, fills, note).install()
    sys.meta_path.append(MissingModules(asked, note))
    libraries = older_libraries.OlderLibraries(asked, functools.partial(files.file, like=".png"), note)
    libraries.install()
    changes[older_libraries.IMAGES] = libraries.pictures
    loaded = load("loaded").Loaded(asked, files.there, files.root, load("usual").words_of, made_up, data.rows)
    load("imported").Imported({**changes, **loaded.changes()}).install()
    load("aliases").bind(source, note)
    load("summaries").install(note)
    load("arguments").install(asked, note, made_up)


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


def _go_back_to_version_1(note: Note) -> None:
    """Let `tensorflow` be what TensorFlow 2 keeps of version 1. The eager runtime is started first: sessions share its
    allocator, which tells its figures only there. Where Keras lies, only TensorFlow 2 tells the import system."""
    tensorflow, version_1 = sys.modules["tensorflow"], importlib.import_module("tensorflow.compat.v1")
    tensorflow.zeros([1])
    version_1.disable_v2_behavior()
    version_1.__path__ = [*version_1.__path__, *tensorflow.__path__]
    for name in BOTH:
        later, first = getattr(tensorflow, name), getattr(version_1, name)
        for word in dir(later):
            if not word.startswith("_") and not hasattr(first, word):
                setattr(first, word, getattr(later, word))
    sys.modules["tensorflow"] = version_1
    note("tensorflow is tensorflow.compat.v1 here, as the code is written for version 1")
