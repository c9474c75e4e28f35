"""A program's view of the machine's files: shown paths without the hidden ones.

If two rules fit one path, the longer one holds. So a folder that is shown can have a hidden
folder, which can have a shown folder again. If a path is both shown and hidden, it is hidden.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

Kind = Literal["shown", "hidden", "own"]
MOST_LINKS: Final = 40
"""Most links that the kernel follows on one path."""


class View:
    """A tree of files that is made of this machine's files."""

    def __init__(self, own: Iterable[str], disk_bytes: int | None) -> None:
        """Begin with empty folders in memory, each of this size at most."""
        self._rules: dict[str, Kind] = {os.path.realpath(path): "own" for path in own}
        self._links: dict[str, str] = {}
        self._size = [] if disk_bytes is None else ["--size", str(disk_bytes)]

    def show(self, paths: Iterable[Path | str]) -> None:
        """Show existing files and folders, and the links on the way to them."""
        for path in paths:
            real, links = followed(os.path.abspath(path))
            self._links |= links
            if real != "/" and os.path.exists(real):
                self._rules.setdefault(real, "shown")

    def hide(self, paths: Iterable[Path | str]) -> None:
        """Hide files and folders: they are visible, but their content is not."""
        for path in map(os.path.realpath, paths):
            if self._rules.get(path) != "own" and os.path.exists(path):
                self._rules[path] = "hidden"

    def mounted(self) -> list[str]:
        """Return the paths at which files of this machine are mounted, outer folders first."""
        return [path for path, kind in self._sorted() if self._says_more(path, kind)]

    def arguments(self, under: str = "") -> list[str]:
        """Return the words for bwrap, before the words for writable paths.

        Args:
            under: A folder with a whole root file system, in which the files are mounted; links
                are left out there.
        """
        rules = [rule for rule in self._sorted() if self._says_more(*rule)]
        if under:
            return [word for rule in rules for word in self._words(*rule, under)]
        links = [
            word
            for path, target in sorted(self._links.items())
            if self._above(path) != "shown"
            for word in ("--symlink", target, path)
        ]
        return [*(word for rule in rules for word in self._words(*rule)), *links]

    def closed(self) -> list[str]:
        """Return the last words for bwrap: they make all other folders read-only."""
        empty = [
            path
            for path, kind in self._rules.items()
            if kind == "hidden" and self._says_more(path, kind) and os.path.isdir(path)
        ]
        return [word for path in [*empty, "/"] for word in ("--remount-ro", path)]

    def shows(self, path: Path | str) -> bool:
        """Return whether a path is visible."""
        real = os.path.realpath(path)
        return (self._rules.get(real) or self._above(real)) == "shown"

    def _says_more(self, path: str, kind: Kind) -> bool:
        """Return whether a rule changes anything; paths that are not shown are hidden anyway."""
        is_shown = self._above(path) == "shown"
        return kind == "own" or is_shown != (kind == "shown")

    def _sorted(self) -> list[tuple[str, Kind]]:
        return sorted(self._rules.items(), key=lambda rule: rule[0].split("/"))

    def _above(self, path: str) -> Kind:
        """Return the rule that applies to a path without a rule of its own."""
        folders = (str(folder) for folder in Path(path).parents)
        return next((self._rules[each] for each in folders if each in self._rules), "hidden")

    def _words(self, path: str, kind: Kind, under: str = "") -> list[str]:
        at = f"{under}{path}"
        if kind == "own":
            return [*self._size, "--tmpfs", at]
        if kind == "shown":
            return ["--ro-bind", path, at]
        return ["--tmpfs", at] if os.path.isdir(path) else ["--ro-bind", "/dev/null", at]


def followed(path: str) -> tuple[str, dict[str, str]]:
    """Return the target of a path, and the links on the way with their content."""
    links: dict[str, str] = {}
    at, ahead = "/", [*reversed(path.split("/"))]
    while ahead:
        name = ahead.pop()
        if name in {"", ".", ".."}:
            at = os.path.dirname(at) if name == ".." else at
            continue
        step = os.path.join(at, name)
        if not os.path.islink(step) or len(links) >= MOST_LINKS:
            at = step
            continue
        links[step] = os.readlink(step)
        at = "/" if links[step].startswith("/") else at
        ahead += reversed(links[step].split("/"))
    return at, links
