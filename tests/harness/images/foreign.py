"""Programs for an image that are not this machine's: musl's libc, and another Python."""

import json
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from tests.harness.images.making import entry

TRIPLE: Final = f"{platform.machine()}-linux-musl"
LOADER: Final = f"lib/ld-musl-{platform.machine()}.so.1"
"""Path of musl's loader, which is its libc as well."""
PACKAGES: Final = "/opt/packages"
"""Folder of an image for the packages that an agent imports."""
_OTHER_PYTHON: Final = "/usr/bin/python3"
_DOWNLOAD_SECS: Final = 60
_IMPORTED: Final = (
    *("tracegrade", "opentelemetry", "google", "wrapt", "typing_extensions"),
    *("requests", "urllib3", "idna", "certifi", "charset_normalizer"),
)
_ASKED: Final = """
import json, sys, sysconfig
print(json.dumps([sys.version, sysconfig.get_path("stdlib")]))
"""
_LEFT_OUT: Final = {
    *("__pycache__", "test", "tests", "idlelib", "lib2to3", "ensurepip", "dist-packages"),
    *("site-packages", "tkinter", "turtledemo", "pydoc_data"),
}
Entry = tuple[tarfile.TarInfo, bytes]


class OtherPython(NamedTuple):
    """A Python that is not the one of these tests."""

    program: Path
    version: str
    library: Path


def other_python() -> OtherPython | str:
    """Return Debian's Python, or the reason why it cannot be used."""
    program = Path(_OTHER_PYTHON).resolve()
    if not program.exists():
        return f"no {_OTHER_PYTHON}"
    asked = [str(program), "-I", "-S", "-c", _ASKED]
    version, library = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)
    if version == sys.version:
        return f"{_OTHER_PYTHON} is the Python of these tests"
    return OtherPython(program, version, Path(library))


def musl_in(folder: Path) -> Path | str:
    """Return a root folder with musl and its headers, or the reason why there is none.

    It is this machine's if musl is installed, else the folder, with Debian's packages in it.
    """
    if shutil.which("gcc") is None:
        return "no gcc"
    if (Path("/usr/lib") / TRIPLE / "musl-gcc.specs").exists():
        return Path("/")
    download = ["apt-get", "download", "-qq", "musl", "musl-dev"]
    try:
        output_of(download, folder, _DOWNLOAD_SECS)
        for package in folder.glob("*.deb"):
            output_of(["dpkg-deb", "-x", package.name, "."], folder)
    except (OSError, subprocess.SubprocessError) as error:
        return f"no musl: {error}"
    return folder


def output_of(command: list[str], folder: Path, timeout: float | None = None) -> str:
    """Run a command in a folder, and return its output."""
    done = subprocess.run(
        command, cwd=folder, capture_output=True, check=True, timeout=timeout, text=True
    )
    return done.stdout


def musl_program(source: str, folder: Path, root: Path) -> list[Entry]:
    """Return musl's loader, and a C program that is linked with musl, as `bin/program`."""
    specs = (root / "usr/lib" / TRIPLE / "musl-gcc.specs").read_text()
    for at in ("usr/lib", "usr/include"):
        specs = specs.replace(f"/{at}/{TRIPLE}", str(root / at / TRIPLE))
    (folder / "specs").write_text(specs)
    (folder / "program.c").write_text(source)
    library = f"-L{root / 'lib' / TRIPLE}"
    output_of(["gcc", "-specs", "specs", "-o", "program", "program.c", library], folder)
    return [
        entry(LOADER, (root / LOADER).read_bytes(), 0o755),
        entry("bin/program", (folder / "program").read_bytes(), 0o755),
    ]


def python_entries(python: OtherPython) -> Iterator[Entry]:
    """Yield a Python with its libraries, and the packages that an agent imports."""
    extensions = sorted((python.library / "lib-dynload").glob("*.so"))
    for path in [python.program, *_linked(python.program, *extensions)]:
        yield entry(str(path)[1:], path.read_bytes(), 0o755)
    yield from _files_of(python.library, str(python.library)[1:])
    for name in _IMPORTED:
        yield from _package(name)
    packages = Path(_origin("requests")).parents[1]
    for path in packages.glob("opentelemetry_*.dist-info"):
        yield from _files_of(path, f"{PACKAGES[1:]}/{path.name}")


def _linked(*programs: Path) -> list[Path]:
    """Return the libraries of programs, as the loader names them."""
    said = output_of(["ldd", *map(str, programs)], Path("/"))
    lines = (line.split() for line in said.splitlines() if not line.endswith(":"))
    paths = ([word for word in line if word.startswith("/")] for line in lines)
    return sorted({Path(found[-1]) for found in paths if found})


def _package(name: str) -> Iterator[Entry]:
    spec = find_spec(name)
    assert spec is not None
    for folder in spec.submodule_search_locations or ():
        yield from _files_of(Path(folder), f"{PACKAGES[1:]}/{name}")
    if not spec.submodule_search_locations and spec.origin:
        yield entry(f"{PACKAGES[1:]}/{name}.py", Path(spec.origin).read_bytes())


def _origin(name: str) -> str:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return spec.origin


def _files_of(folder: Path, at: str) -> Iterable[Entry]:
    for path in sorted(folder.rglob("*")):
        below = path.relative_to(folder)
        if path.is_file() and _LEFT_OUT.isdisjoint(below.parts):
            yield entry(f"{at}/{below}", path.read_bytes())
