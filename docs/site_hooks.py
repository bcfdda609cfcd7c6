"""What mkdocs needs besides the pages: those in the root of the repository as pages of the site, links between them and
docs/, and the rules in the navigation. `make docs` loads it; it is no part of the package."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

from tfmemlint.dev.families import FAMILIES
from tfmemlint.report.site import base

ROOT = Path(__file__).parents[1]
FROM_THE_ROOT = {path.name: path.name.lower() for path in ROOT.glob("*.md")} | {"README.md": "index.md"}
"""Pages that stand in the root of the repository, and what they are called on the site."""
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|`[^`]*`)+)\]\(([^)\s:]+)\)")


def on_config(config):
    """The address of the site, which the tool prints too, and a section for each family of rules."""
    config.site_url = base() or None
    codes = sorted(path.stem for path in (ROOT / "docs" / "rules").glob("TFM*.md"))
    families = [
        {family.title: [{_title(code): f"rules/{code}.md"} for code in codes if code.startswith(start)]}
        for start, family in FAMILIES.items()
    ]
    for entry in config.nav:
        if "Rules" in entry:
            entry["Rules"] = [*entry["Rules"], *families]
    return config


def _title(code: str) -> str:
    return re.search(r"^# (.*)$", (ROOT / "docs" / "rules" / f"{code}.md").read_text("utf-8"), re.MULTILINE)[1]


def on_files(files, config):
    """Add the pages of the root."""
    for source, name in FROM_THE_ROOT.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    return files


def on_page_markdown(markdown, page, config, files):
    """Let links lead to pages of the site. What the site does not have, such as a folder of examples, is no link."""
    on_site = {name: source for source, name in FROM_THE_ROOT.items()}
    written_in = posixpath.dirname(on_site.get(page.file.src_uri, f"docs/{page.file.src_uri}"))

    def led(match: re.Match[str]) -> str:
        image, words, link = match.groups()
        path, hash_, anchor = link.partition("#")
        if not path:
            return match[0]
        target = posixpath.normpath(posixpath.join(written_in, path))
        name = FROM_THE_ROOT.get(target, target.removeprefix("docs/"))
        if (target not in FROM_THE_ROOT and not target.startswith("docs/")) or files.get_file_from_path(name) is None:
            if not (ROOT / target).exists():
                raise SystemExit(f"{written_in}: {link} leads nowhere")
            return words
        away = posixpath.relpath(name, posixpath.dirname(page.file.src_uri) or ".")
        return f"{image}[{words}]({away}{hash_}{anchor})"

    parts = re.split(r"(^ *```.*?^ *```$)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if number % 2 else _LINK.sub(led, part) for number, part in enumerate(parts))
