"""Lakes of the sample's agent: of both releases, and of each alone."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from tests.commands import Ended, tracegrade

from tracegrade_scoring.sample.copy_files import copy_files

BASE, CANDIDATE = "1.0", "1.1"
RESOURCE = ("resourceSpans", 0, "resource", "attributes")


class Sample(NamedTuple):
    """A lake, and the tasks that it is scored by."""

    lake: Path
    tasks: Path

    def check(self, baseline: Path, *options: object, candidate: str = CANDIDATE) -> Ended:
        """Run `tracegrade ci check` to its end."""
        where = ("--lake", self.lake, "--tasks", self.tasks, "--baseline", baseline)
        return tracegrade("ci", "check", *where, "--candidate", candidate, *options)

    def export(self, out: Path, *options: object, release: str = BASE) -> Ended:
        """Run `tracegrade ci baseline` to its end."""
        where = ("--lake", self.lake, "--release", release, "--out", out)
        return tracegrade("ci", "baseline", *where, *options)

    def score(self) -> None:
        """Score it."""
        done = tracegrade("score", "--lake", self.lake, "--tasks", self.tasks)
        assert done.returncode == 0, done.stderr


def sample(folder: Path, *releases: str, rename: dict[str, str] | None = None) -> Sample:
    """Return a lake with the runs of these releases, not scored.

    Args:
        folder: A new folder.
        releases: Of the sample.
        rename: Texts of the runs to replace by others, as JSON has them.
    """
    copy_files(folder)
    runs = folder / "runs.jsonl"
    lines = [line for line in runs.read_text().splitlines() if release_of(line) in releases]
    for before, after in (rename or {}).items():
        lines = [line.replace(json.dumps(before), json.dumps(after)) for line in lines]
    runs.write_text("\n".join(lines) + "\n")
    done = tracegrade("import", runs, "--lake", folder / "lake")
    assert done.returncode == 0, done.stderr
    return Sample(folder / "lake", folder / "tasks.yaml")


def release_of(line: str) -> str:
    """Return the release of a line of the sample."""
    found: Any = json.loads(line)
    for key in RESOURCE:
        found = found[key]
    (release,) = (each["value"]["stringValue"] for each in found if "version" in each["key"])
    return str(release)


def change_task(tasks: Path, name: str) -> None:
    """Change the definition of a task, but not whether any run succeeds at it."""
    document = yaml.safe_load(tasks.read_text())
    document["tasks"][name]["category"] = "another"
    tasks.write_text(yaml.safe_dump(document, sort_keys=False))
