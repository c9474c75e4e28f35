"""One page for each package: its modules, with the first line of each docstring."""

import ast
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import groupby
from pathlib import Path

from docgen.packages import PACKAGES
from docgen.pages import code, page, prose, table


def pages() -> Mapping[str, str]:
    """Return the pages by their paths below `docs/`."""
    return {f"internals/modules/{package}.md": _page(package) for package in PACKAGES}


def _page(package: str) -> str:
    root = Path(import_module(package).__path__[0])
    files = sorted(root.rglob("*.py"), key=lambda path: (path.parent, path.name))
    sections = (
        f"## {_heading(folder, root)}\n\n{_modules(list(paths))}"
        for folder, paths in groupby(files, key=lambda path: path.parent)
    )
    return page(f"Modules of {package}", prose(_docstring(root / "__init__.py")), *sections)


def _heading(folder: Path, root: Path) -> str:
    return folder.relative_to(root.parent).as_posix()


def _modules(paths: list[Path]) -> str:
    return table(["module", "what it does"], _rows(paths))


def _rows(paths: list[Path]) -> Iterator[list[str]]:
    for path in paths:
        summary = prose(_docstring(path)).partition("\n")[0]
        if path.name != "__init__.py" or summary:
            yield [code(path.name), summary]


def _docstring(path: Path) -> str:
    """Return the first paragraph of a module's docstring, empty if it has none."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.partition("\n\n")[0]
