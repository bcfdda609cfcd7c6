"""Whether any tf.data pipeline can be seen from a file: told by the words of code, before anything is evaluated."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.inferred_by_use import TELLING
from tfmemlint.model.remembered import once_per_file
from tfmemlint.text.code_words import words_of_source

if TYPE_CHECKING:
    from tfmemlint.model.file import File

DATASET = "tf.data.Dataset"


@once_per_file
def any_pipeline_seen(file: File) -> bool:
    """Whether some value of a file may be a pipeline. False where neither its code nor that of any module that may be
    followed for it holds a word by which pipelines begin: then each value is made of others than pipelines, whatever
    way it takes."""
    words = words_of_beginnings()
    if not words.isdisjoint(words_of_source(file.source)):
        return True
    return file.siblings is not None and file.siblings.any_followed_holds(file.source.text, words)


@cache
def words_of_beginnings() -> frozenset[str]:
    """The words of which one stands wherever a pipeline begins: what makes one of something else, annotations, and
    what is done only with pipelines, from which the model concludes that it is one."""
    makers = knowledge.makers(DATASET) | knowledge.group("gives_batches")
    needed = (knowledge.words_needed(_class_or(name)) for name in (DATASET, *makers))
    return TELLING.union({"AUTOTUNE", "tensorflow_datasets"}, *needed)


def _class_or(name: str) -> str:
    """The class of a method, as its object is made by that before, or a function itself."""
    owner = name.rpartition(".")[0]
    return owner if knowledge.is_class(owner) else name
