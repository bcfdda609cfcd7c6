"""Stands in for the corpora and models that NLTK would fetch; loaded by `main.py`."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

STOP_WORDS = (
    *("a", "about", "all", "an", "and", "are", "as", "at", "be", "by", "for", "from", "has", "he", "her", "his", "i"),
    *("in", "is", "it", "its", "my", "not", "of", "on", "or", "she", "that", "the", "they", "this", "to", "was", "we"),
)
SENTENCES, WORDS, VOCABULARY = 4000, 12, 3000
TOKEN = re.compile(r"\w+|[^\w\s]")
SENTENCE = re.compile(r"(?<=[.!?])\s+")


class Words:
    """The corpora and functions of one run."""

    def __init__(self, note: Note) -> None:
        self._note = note

    def patch(self, nltk: types.ModuleType) -> None:
        """Let NLTK answer where a resource of it is not there."""
        of_words: dict[str, Callable[..., Any]] = {
            "word_tokenize": lambda text, *_, **__: TOKEN.findall(text),
            "sent_tokenize": lambda text, *_, **__: SENTENCE.split(text),
            "pos_tag": lambda tokens, *_, **__: [(each, "NN") for each in tokens],
        }
        homes: Any = [nltk, *(getattr(nltk, name, None) for name in ("tokenize", "tag"))]
        for name, other in of_words.items():
            function = getattr(nltk, name)
            for home in homes:
                if getattr(home, name, None) is function:
                    setattr(home, name, self._answered(function, other))
        lemmatizer: Any = nltk.stem.WordNetLemmatizer
        lemmatizer.lemmatize = self._answered(lemmatizer.lemmatize, lambda _, word, *__, **___: word)
        lazy: Any = nltk.corpus.util.LazyCorpusLoader
        look = lazy.__getattr__

        def __getattr__(corpus: Any, name: str) -> Any:
            try:
                return look(corpus, name)
            except LookupError:
                if not hasattr(_Corpus, name):
                    raise
                kind = vars(corpus).get("_LazyCorpusLoader__name", "")
                self._note(f"the corpus {kind} of NLTK is not there: words were made up")
                return getattr(_Corpus(kind), name)

        lazy.__getattr__ = __getattr__
        vars(nltk)["download"] = lambda *_, **__: True

    def _answered(self, function: Any, other: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def answered(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except LookupError:
                self._note(f"what {function.__name__}() of NLTK needs is not there: it was done in a simple way")
                return other(*args, **kwargs)

        return answered


class _Corpus:
    """A corpus by name: words that stop, or sentences."""

    def __init__(self, name: str) -> None:
        self._stops = name == "stopwords"

    def words(self, *_: Any, **__: Any) -> list[str]:
        """All words."""
        return list(STOP_WORDS) if self._stops else [word for sentence in self.sents() for word in sentence]

    def sents(self, *_: Any, **__: Any) -> list[list[str]]:
        """Sentences of words."""
        return [[f"word{(row * WORDS + at) * 7919 % VOCABULARY}" for at in range(WORDS)] for row in range(SENTENCES)]

    def tagged_sents(self, *_: Any, **__: Any) -> list[list[tuple[str, str]]]:
        """Sentences of words with their kinds."""
        return [[(word, "NN") for word in sentence] for sentence in self.sents()]

    def tagged_words(self, *_: Any, **__: Any) -> list[tuple[str, str]]:
        """All words with their kinds."""
        return [(word, "NN") for word in self.words()]

    def raw(self, *_: Any, **__: Any) -> str:
        """The text."""
        return "\n".join(" ".join(sentence) for sentence in self.sents())

    def fileids(self, *_: Any, **__: Any) -> list[str]:
        """Two files."""
        return ["pos/0.txt", "neg/0.txt"]

    def categories(self, *_: Any, **__: Any) -> list[str]:
        """Two categories."""
        return ["pos", "neg"]

    def ensure_loaded(self) -> None:
        """It is there."""
