"""Does to overlays what it does to copies, and prints where they differ: run by `test_overlays`.

A program of its own, since a process that mounts overlays is in a namespace until its end.
"""

import fcntl
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from tests.harness.parts.environments import make_sources, template

from tracegrade_harness.parts.environment import OpenedEnvironment
from tracegrade_harness.parts.folders.folders import removed
from tracegrade_harness.parts.state_reading import fingerprint

NAMES = ("raw/a.csv", "raw/b.csv", "run.sh", "latest", "new", "raw", "empty", "raw/new", "made")
STRANGE = "of, all: kinds \\ and\n\"more'"
ROUNDS = 15


def change(root: Path, kind: str, name: str, other: str) -> None:
    """Do one thing to what stands in a folder, if it can be done."""
    with suppress(OSError):
        CHANGES[kind](root / name, root / other)


def append(path: Path, _: Path) -> None:
    """Write in place."""
    with path.open("a") as file:
        file.write("more\n")


def replace(path: Path, other: Path) -> None:
    """Write anew, as editors do."""
    path.with_suffix(".part").write_text("other")
    path.with_suffix(".part").rename(other)


def rename(path: Path, other: Path) -> None:
    """Rename an entry that is not a folder; for folders, see below."""
    if not path.is_dir():
        path.rename(other)


CHANGES: dict[str, Callable[[Path, Path], object]] = {
    "append": append,
    "replace": replace,
    "rename": rename,
    "remove": lambda path, _: path.rmdir() if path.is_dir() else path.unlink(),
    "folder": lambda path, _: path.mkdir(),
    "mode": lambda path, _: path.chmod(0o700),
    "link": lambda path, other: path.symlink_to(other.name),
    "hard": os.link,
    "hole": lambda path, _: os.truncate(path, 5000),
}


def facts(environment: OpenedEnvironment, folder: Path) -> dict[str, object]:
    """Return what the harness sees of an environment, and of a clone of it."""
    with closing(environment.clone(folder / "clone")) as clone:
        cloned = clone.difference()
    removed(folder / "clone")
    return {
        "difference": environment.difference(),
        "fingerprint": environment.fingerprint(),
        "ignored": environment.ignored_changes(),
        "notes": environment.notes(),
        "clone": cloned,
    }


def differing(folder: Path, draw: random.Random) -> list[object]:
    """Return what differs, if anything, once the same was done to a copy and to an overlay."""
    changes = [
        (draw.choice([*CHANGES]), draw.choice(NAMES), draw.choice(NAMES))
        for _ in range(draw.choice((1, 3, 30)))
    ]
    seen = []
    for overlay in (False, True):
        part = {"from": "uploads", "at": "data", "ignore": ["new"], "overlay": overlay}
        trial = folder / f"trial-{overlay}"
        frozen = template(folder, files={"data": part}, sqlite={})
        with closing(frozen.open(trial)) as environment:
            assert os.path.ismount(trial / "data") == overlay
            for each in changes:
                change(trial / "data", *each)
            seen.append(facts(environment, trial))
        removed(trial)
    return [] if seen[0] == seen[1] else [changes, *seen]


def held(folder: Path) -> list[str]:
    """Return what is held of an overlay: a file that was there, as it is, and as it is written."""
    with closing(opened(folder, "held")) as environment:
        data = folder / "held/data"
        with (data / "run.sh").open() as one, (data / "raw/a.csv").open("a") as other:
            fcntl.flock(one, fcntl.LOCK_SH)
            other.write("written")
            other.flush()
            fcntl.lockf(other, fcntl.LOCK_EX)
            return environment.held()


def opened(folder: Path, trial: str, at: str = "data") -> OpenedEnvironment:
    """Open an environment with an overlay and, if that is all of it, with a database inside."""
    sqlite = {"ledger": {"from": "ledger.sql", "at": "ledger.db"}} if at == "." else {}
    files = {"data": {"from": "uploads", "at": at, "overlay": True}}
    return template(folder, files=files, sqlite=sqlite).open(folder / trial)


def rename_refused(folder: Path) -> int | None:
    """Return the error with which a folder that was there is renamed."""
    with closing(opened(folder, "renamed")):
        try:
            (folder / "renamed/data/raw").rename(folder / "renamed/data/cooked")
        except OSError as error:
            return error.errno
    return None


def left_busy(folder: Path) -> list[str]:
    """Return what stands in the place of an overlay that was moved, and is in use at its end."""
    with closing(opened(folder, "moved", "deep/data")):
        (folder / "moved/deep").rename(folder / "moved/deeper")
        busy = (folder / "moved/deeper/data/run.sh").open("a")
    with busy:
        return sorted(os.listdir(folder / "moved/deeper/data"))


def main() -> None:
    """Print all that a test is to see."""
    with tempfile.TemporaryDirectory(dir=sys.argv[1]) as name:
        folder = Path(name, STRANGE)
        deep = folder.joinpath(*["x" * 200] * 9)  # its layers are too long for a mount's options
        deep.mkdir(parents=True)
        make_sources(deep)
        make_sources(folder)
        draw = random.Random(sys.argv[2])  # noqa: S311 - no secret
        with closing(opened(folder, "top", ".")) as environment:
            top = fingerprint(environment.state())
            there = sorted(os.listdir(folder / "top"))
        with closing(template(folder).open(folder / "copy")) as environment:
            copy = fingerprint(environment.state())
        told = {
            "differing": [each for _ in range(ROUNDS) if (each := differing(folder, draw))],
            "held": held(folder),
            "rename_refused": rename_refused(folder),
            "left_busy": left_busy(deep),
            "top": [top == copy, there],
            "mounted": Path("/proc/self/mountinfo").read_text().count(" - overlay overlay "),
            "capabilities": Path("/proc/self/status").read_text().partition("CapEff:\t")[2][:16],
        }
        removed(folder)
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
