"""Finds the files that a program needs to run: interpreters, libraries, packages.

A program is found as shells find it. The search follows links, the first line of a script (`#!`),
and the way from a virtual environment to its Python.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Final

from tracegrade_harness.sandbox.view import followed

INTERPRETERS: Final = ("python3", "python", "node", "java", "ruby", "perl", "deno", "bun")
"""Interpreters that programs start by name alone."""
SEARCHED: Final = ("PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH", "JAVA_HOME")
"""Variables with folders in which modules are searched."""
CERTIFICATES: Final = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    "NODE_EXTRA_CA_CERTS",
)
"""Variables with files of certificates, which hold no secrets."""
_LIBRARIES: Final = ("lib", "lib64", "libexec")
_PROGRAM_FOLDERS: Final = frozenset({"bin", "sbin", "shims", "condabin"})
_MOST_STEPS: Final = 4
"""Most steps from a script to its interpreter, and so on."""
_FIRST_LINE_BYTES: Final = 512
_HOME_OF_VENV: Final = re.compile(r"^home\s*=\s*(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Installed:
    """The files that a program needs."""

    programs: set[Path] = field(default_factory=set)
    """Programs, and interpreters with all of their files."""
    packages: set[Path] = field(default_factory=set)
    """Folders with modules in other locations, which may hold more than modules."""


def needed_by(command: str, environment: Mapping[str, str]) -> Installed:
    """Return the files that a program with these variables needs."""
    known = _installed(command, environment.get("PATH", os.defpath))
    return Installed(known.programs, known.packages | {*_searched(environment)})


@lru_cache(maxsize=64)
def _installed(command: str, path: str) -> Installed:
    found = Installed()
    found.programs.update(Path(each) for each in path.split(os.pathsep) if _is_folder(each))
    for name in (command, *INTERPRETERS):
        _add_program(found, name, path, _MOST_STEPS)
    return found


@lru_cache(maxsize=8)
def of_prefix(prefix: Path) -> Installed:
    """Return the files of an interpreter that is installed in a folder.

    A user's home, or its `.local`, holds more than an interpreter; then only the libraries count.
    """
    found = Installed()
    _add_prefix(found, prefix)
    return found


def _add_program(found: Installed, name: str, path: str, steps: int) -> None:
    program = shutil.which(name, path=path)
    if program is None or steps == 0:
        return
    real, links = followed(os.path.abspath(program))
    for each in map(Path, (program, *links, real)):
        found.programs.add(each)
        prefix = each.parent.parent
        if each.parent.name in _PROGRAM_FOLDERS and [*_libraries(prefix)]:
            _add_prefix(found, prefix)
    for interpreter in _interpreters(Path(real)):
        _add_program(found, interpreter, path, steps - 1)


def _add_prefix(found: Installed, prefix: Path) -> None:
    if prefix in found.programs:
        return
    found.programs.update(_libraries(prefix) if _is_wide(prefix) else [prefix])
    for listed in prefix.glob("lib*/python3*/site-packages/*.pth"):
        found.packages.update(filter(_is_folder, map(Path, _text(listed).splitlines())))
    if base := _HOME_OF_VENV.search(_text(prefix / "pyvenv.cfg")):
        _add_prefix(found, Path(base[1].strip()).parent)


def _libraries(prefix: Path) -> Iterator[Path]:
    return (prefix / name for name in _LIBRARIES if (prefix / name).is_dir())


def _searched(environment: Mapping[str, str]) -> Iterator[Path]:
    texts = (environment.get(name, "").split(os.pathsep) for name in SEARCHED)
    yield from map(Path, filter(_is_folder, chain.from_iterable(texts)))
    for name in CERTIFICATES:
        if os.path.isabs(environment.get(name, "")):
            yield Path(environment[name])


def _is_folder(path: str | Path) -> bool:
    return os.path.isabs(path) and os.path.isdir(path) and not _is_wide(Path(path))


def _is_wide(folder: Path) -> bool:
    """Return whether a folder holds more than programs: the root, a home, its `.local`."""
    home = Path.home()
    return folder in {home, home / ".local", *home.parents}


def _interpreters(script: Path) -> list[str]:
    """Return the programs that the first line of a script names."""
    try:
        with script.open("rb") as file:
            line = file.readline(_FIRST_LINE_BYTES)
    except OSError:
        return []
    if not line.startswith(b"#!"):
        return []
    return [word for word in line[2:].decode(errors="replace").split() if word[:1] != "-"][:2]


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
