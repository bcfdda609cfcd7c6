"""Stands in for what the standard library fetches, where there is no network; loaded by `main.py`."""

from __future__ import annotations

import io
import os
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

Note = Callable[[str], None]

WORDS = "{} cannot be fetched: what is read of it is made up"


class Fetching:
    """Answers for the network where the program's own files ask, as `asked` tells; `find` gives the path of a made-up
    file by the name of a real one, `folder` is where what has no name of its own would lie."""

    def __init__(self, asked: Callable[[], bool], find: Callable[[str], str], folder: str, note: Note) -> None:
        self._asked, self._find, self._folder, self._note = asked, find, folder, note

    def install(self) -> None:
        """Put this in front of the functions that fetch."""
        module: Any = urllib.request
        retrieve, opened = module.urlretrieve, module.urlopen

        def urlretrieve(url: str, filename: Any = None, *args: Any, **kwargs: Any) -> Any:
            if not self._asked():
                return retrieve(url, filename, *args, **kwargs)
            path = os.fspath(filename) if filename is not None else self._place(url)
            self._note(WORDS.format(os.path.basename(path)))
            return path, {}

        def urlopen(url: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._asked():
                return opened(url, *args, **kwargs)
            path = self._place(getattr(url, "full_url", url))
            self._note(WORDS.format(os.path.basename(path)))
            made = self._find(path)
            with io.FileIO(made if os.path.isfile(made) else self._find(f"{path}.txt")) as file:
                return Answer(file.read())

        module.urlretrieve, module.urlopen = urlretrieve, urlopen

    def _place(self, url: str) -> str:
        name = os.path.basename(urllib.parse.urlsplit(url).path)
        return os.path.join(self._folder, name or "page.html")


class Answer(io.BytesIO):
    """What a server would answer."""

    status = code = 200

    def info(self) -> dict[str, str]:
        return {"Content-Length": str(len(self.getvalue()))}

    headers = property(info)

    def getheader(self, name: str, default: Any = None) -> Any:
        return self.info().get(name, default)

    def getcode(self) -> int:
        return self.code
