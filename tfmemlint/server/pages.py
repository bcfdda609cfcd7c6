"""Where a rule's page can be opened: on the web, or as a file that the server has written."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from tfmemlint.report.site import page_url

_CODE = re.compile(r"[A-Z]{3,6}\d{3}")


class Pages:
    """The addresses of rules' pages. Those on no site are written into a private folder, which `close` removes."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._found: dict[str, str] = {}

    def address(self, code: str) -> str | None:
        """The address of a page, as far as it is known without reading it."""
        return page_url(code) or self._found.get(code)

    def write(self, code: str, text: str) -> str | None:
        """The address of a page after it was written with this text; None where there is no place for it."""
        if page_url(code) is None and code not in self._found and text and _CODE.fullmatch(code):
            try:
                self._folder = self._folder or Path(tempfile.mkdtemp(prefix="tfmemlint-"))
                path = self._folder / f"{code}.md"
                path.write_text(text, "utf-8")
            except OSError:
                return None
            self._found[code] = path.as_uri()
        return self.address(code)

    def close(self) -> None:
        """Remove what was written."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
