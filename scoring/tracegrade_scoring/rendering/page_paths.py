"""Paths of pages in a folder of pages; a page has one once another page names it.

A name may be anything that a trace says, so files are named by a digest of it.
"""

import re
from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import Final

MOST_PAGES: Final = 200
"""Pages of one kind: the first that other pages name."""
_NAME: Final = re.compile(r"[0-9a-f]{32}\.html")


class PagePaths:
    """Paths of the pages of one kind, in the order in which they were named."""

    def __init__(self, folder: str) -> None:
        """Take the folder of the pages, relative to that of the index."""
        self._folder = folder
        self.paths: dict[str, str] = {}
        """By name, relative to the folder of the index."""

    def __call__(self, name: str) -> str:
        """Return the path of a page; '' for one too many."""
        if name not in self.paths and len(self.paths) < MOST_PAGES:
            self.paths[name] = page_path(self._folder, name)
        return self.paths.get(name, "")

    def known(self, name: str) -> str:
        """Return the path of a page; '' if no page has named it before."""
        return self.paths.get(name, "")


def page_path(folder: str, name: str) -> str:
    """Return the path of a page in a folder, relative to the folder of the index."""
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{folder}/{digest[:32]}.html"


def remove_other_pages(folder: Path, paths: Collection[str]) -> None:
    """Remove the pages of a folder that have none of these paths; other files stay."""
    names = {Path(path).name for path in paths}
    for file in folder.iterdir() if folder.is_dir() else ():
        if file.name not in names and _NAME.fullmatch(file.name):
            file.unlink(missing_ok=True)
