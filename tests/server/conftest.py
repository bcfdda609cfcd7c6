"""A server for all tests of a process, each of which has a folder of its own below the server's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest
from rpc import Client


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(tmp_path_factory.mktemp("served")) as client:
        yield client


_NUMBERS = itertools.count()


@pytest.fixture
def client(served: Client) -> Iterator[Client]:
    """The server that the tests share, in a folder of its own and with the settings that a test makes."""
    root = served.root
    served.root = root / f"project{next(_NUMBERS)}"
    served.root.mkdir()
    (served.root / "pyproject.toml").touch()
    served.asked.clear()
    yield served
    for uri in list(served.texts):
        if uri.startswith(served.root.as_uri()):
            served.notify("textDocument/didClose", textDocument={"uri": uri})
            del served.texts[uri]
    served.notify("workspace/didChangeConfiguration", settings={"tfmemlint": {}})
    served.root = root


@pytest.fixture
def configure(client: Client) -> Callable[[str], None]:
    """Writes the configuration of the folder, and has the server told of it as an editor does."""

    def made(text: str) -> None:
        path = client.root / "tfmemlint.toml"
        path.write_text(text, "utf-8")
        client.notify("workspace/didChangeWatchedFiles", changes=[{"uri": path.as_uri(), "type": 2}])

    return made
