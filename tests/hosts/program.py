"""A host program: a small file, and what it says of itself in its first lines.

Its docstring, or the comments it begins with: first what it is about, then lines of `key: value`.
"""

import ast
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

PROGRAMS: Final = Path(__file__).parent / "programs"
KEYS: Final = (
    "spans",
    "says",
    "needs",
    "python",
    "env",
    "command",
    "mode",
    "py",
    "speed",
    "known",
)
_KEY = re.compile(rf"({'|'.join(KEYS)}): *(.*)")


class Expected(NamedTuple):
    """How many of our spans land or are counted as lost."""

    least: int
    most: float

    def holds(self, found: int) -> bool:
        """Return whether so many are right."""
        return self.least <= found <= self.most

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} or more"


class Program:
    """One host program."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text()
        about: list[str] = []
        self._said: dict[str, list[str]] = {}
        for line in _head(self.text):
            if match := _KEY.fullmatch(line):
                self._said.setdefault(match[1], []).append(match[2].strip())
            elif line and not self._said:
                about.append(line)
        self.about = " ".join(about)

    def __str__(self) -> str:
        return self.path.stem

    @property
    def folder(self) -> str:
        """What kind of host it is."""
        return self.path.parent.name

    @property
    def expected(self) -> Expected | None:
        """`spans: 6` or `spans: 6 or more`: the spans of ours that it makes; None if unsaid."""
        if (said := self._one("spans")) is None:
            return None
        number, _, more = said.partition(" ")
        return Expected(int(number), float("inf") if more else int(number))

    @property
    def says(self) -> list[str]:
        """`says: REGEX`: each a line of stderr that tracegrade writes on purpose."""
        return self._said.get("says", [])

    @property
    def needs(self) -> list[str]:
        """The modules that it imports and, with `needs: NAME ...`, what else must be there."""
        said = " ".join(self._said.get("needs", [])).split()
        return sorted({*self._imports, *said} - {"tg"})

    @property
    def version(self) -> str | None:
        """`python: 3.13`: the version of Python that it is for."""
        return self._one("python")

    @property
    def environment(self) -> dict[str, str]:
        """`env: NAME=VALUE ...`: variables that it finds, with and without tracegrade."""
        pairs = " ".join(self._said.get("env", [])).split()
        return dict(pair.split("=", 1) for pair in pairs)

    @property
    def command(self) -> list[str]:
        """`command: python -I program`: what is run; by default `python program`."""
        return (self._one("command") or "python program").split()

    @property
    def by_run(self) -> bool:
        """`mode: run`: with tracegrade, it is run by `tracegrade run`."""
        return self._one("mode") == "run"

    @property
    def is_slow(self) -> bool:
        """`speed: slow`: it takes seconds, and `make test` leaves it out."""
        return self._one("speed") == "slow"

    @property
    def known(self) -> str | None:
        """`known: TEXT`: why it is not the same yet; tests leave it out, the table does not."""
        return self._one("known")

    def _one(self, key: str) -> str | None:
        return self._said.get(key, [None])[-1]

    @cached_property
    def _imports(self) -> set[str]:
        """The modules named in its imports, wherever they stand."""
        found: set[str] = set()
        for node in ast.walk(ast.parse(self.text)):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module)
        return {name.partition(".")[0] for name in found}


def programs(folder: Path = PROGRAMS) -> list[Program]:
    """Return the programs of a folder and of those in it, by name."""
    return [Program(path) for path in sorted(folder.rglob("*.py"))]


def _head(text: str) -> Iterator[str]:
    """Yield the lines of the docstring, or of the comments that a file begins with."""
    docstring = ast.get_docstring(ast.parse(text))
    if docstring is not None:
        yield from (line.strip() for line in docstring.splitlines())
        return
    for line in text.splitlines():
        if not line.startswith("#"):
            return
        yield line.lstrip("# ").rstrip()
