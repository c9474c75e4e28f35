"""Runs host programs with and without tracegrade, beside a real collector, and compares them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import distribution
from pathlib import Path
from typing import IO, Final, NamedTuple

from tests.collector.running import collecting, landed

import tracegrade
from tracegrade.guard import LOST
from tracegrade.names import STEP_INDEX
from tracegrade.state import SCOPE_NAME

from .database import database
from .program import Program
from .pythons import POSTGRES, Pythons

PATIENCE_SECS: Final = 120
SWITCH: Final = Path(__file__).parent / "switch"
PACKAGE: Final = Path(tracegrade.__file__).parent
PROGRAM_KEY: Final = "host.program"

_OUR_FRAME: Final = re.compile(
    r'^[ |]*File "[^"\n]*/(?:instrumentation|installed)/tracegrade/[^"\n]*", line[^\n]*\n'
    r"(?:[ |]{4,}(?! *File )[^\n]*\n)*",
    re.MULTILINE,
)


class Ended(NamedTuple):
    """What one process showed of itself."""

    stdout: str
    stderr: str
    exit: str
    secs: float


class Outcome(NamedTuple):
    """A program with and without tracegrade; its spans."""

    program: Program
    skipped: str = ""
    without: Ended | None = None
    beside: Ended | None = None
    landed: int = 0
    counts: Mapping[str, int] = {}
    """What `failures()` told."""
    differences: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """The spans that were counted as lost."""
        return sum(n for place, n in self.counts.items() if place.startswith(LOST))

    @property
    def is_same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


class HostRequest(NamedTuple):
    """How programs are run."""

    python: str | None = None
    """The Python for all of them; by default the first of ours that has what each needs."""
    stderr: bool = True
    """Whether stderr is compared."""
    jobs: int = 2
    """How many run at a time."""


USUAL: Final = HostRequest()


def run_all(programs: Sequence[Program], asked: HostRequest = USUAL) -> list[Outcome]:
    """Run each program without and with tracegrade, and return what became of it."""
    with _folder() as folder, ExitStack() as stack:
        lake = folder / "lake"
        collector = stack.enter_context(collecting(lake))
        pythons = Pythons(programs, asked.python)
        able = [each for each in programs if pythons.of(each)]
        variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        if any(POSTGRES in each.needs for each in able):
            variables |= stack.enter_context(database(folder / "database"))
        host = _Host(folder, variables, pythons, asked)
        with ThreadPoolExecutor(asked.jobs) as pool:
            outcomes = list(pool.map(host.run, programs))
        if collector.stop() != 0:
            outcomes = [_with(each, "the collector failed") for each in outcomes]
        spans = _Landed(lake)
        return [_counted(each, spans) for each in outcomes]


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hosts-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _installed(folder: Path) -> Path:
    """Link this tracegrade into a folder, as if it were installed there."""
    folder.mkdir()
    (folder / "tracegrade").symlink_to(PACKAGE)
    information = Path(str(distribution("tracegrade")._path))  # type: ignore[attr-defined]
    (folder / information.name).symlink_to(information)
    return folder


class _Host:
    """Where programs run."""

    def __init__(
        self, folder: Path, variables: Mapping[str, str], pythons: Pythons, asked: HostRequest
    ) -> None:
        self.folder, self.variables = folder, variables
        self.pythons, self.asked = pythons, asked
        self.installed = _installed(folder / "installed")

    def run(self, program: Program) -> Outcome:
        """Run a program without and with tracegrade, one after the other in the same place."""
        python = self.pythons.of(program)
        if python is None:
            return Outcome(program, skipped=self.pythons.why_not(program))
        counts = self.folder / f"{program}.counts"
        without = self._run(program, python, None)
        beside = self._run(program, python, counts)
        found = Outcome(program, "", without, beside, counts=_counts(counts))
        return _with(found, *_differences(program, without, beside, self.asked.stderr))

    def _run(self, program: Program, python: str, counts: Path | None) -> Ended:
        place = self.folder / "places" / str(program)
        place.mkdir(parents=True)
        try:
            return _ended(
                self._command(program, python, counts is not None),
                place,
                self._environment(program, python, place, counts),
            )
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _command(self, program: Program, python: str, beside: bool) -> list[str]:
        words = {"python": python, "program": str(program.path)}
        command = [words.get(word, word) for word in program.command]
        if program.by_run and beside:
            return [sys.executable, "-m", "tracegrade", "run", "--", *command]
        return command

    def _environment(
        self, program: Program, python: str, place: Path, counts: Path | None
    ) -> dict[str, str]:
        role = "without" if counts is None else "with"
        environment = {
            "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(place),
            "TMPDIR": str(place),
            "LANG": "C.UTF-8",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": os.pathsep.join([str(SWITCH), str(self.installed)]),
            **self.variables,
            "OTEL_RESOURCE_ATTRIBUTES": f"{PROGRAM_KEY}={program}/{role}",
            **program.environment,
        }
        return environment if counts is None else {**environment, "WITH_TRACEGRADE": str(counts)}


def _ended(command: Sequence[str], place: Path, environment: dict[str, str]) -> Ended:
    """Run a command to its end; what it left running is killed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        process = subprocess.Popen(
            command,
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = process.wait(PATIENCE_SECS)
            said = f"{code}" if code >= 0 else signal.Signals(-code).name
        except subprocess.TimeoutExpired:
            said = f"none in {PATIENCE_SECS} s"
        secs = time.monotonic() - began
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return Ended(_text(stdout), _text(stderr), said, secs)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="backslashreplace")


def _counts(path: Path) -> Counter[str]:
    """Return what `failures()` of all processes of a program has counted."""
    lines = path.read_text().splitlines() if path.exists() else []
    return sum((Counter(json.loads(line)) for line in lines), Counter())


def _differences(
    program: Program, without: Ended, beside: Ended, with_stderr: bool
) -> Iterator[str]:
    """Yield how a program differed, each in one line."""
    if without.exit != beside.exit:
        yield f"exit {without.exit}, with it {beside.exit}"
    if without.stdout != beside.stdout:
        yield f"stdout: {_first_difference(without.stdout, beside.stdout)}"
    if with_stderr:
        said, unsaid = _without_ours(program, beside.stderr)
        yield from (f"stderr: does not say '{each}'" for each in unsaid)
        if said != without.stderr:
            yield f"stderr: {_first_difference(without.stderr, said)}"


def _without_ours(program: Program, stderr: str) -> tuple[str, list[str]]:
    """Return stderr less what we say on purpose, and what of that was not said.

    A traceback shows the frames of the wrapper: they are left out.
    """
    lines, unsaid = _OUR_FRAME.sub("", stderr).splitlines(keepends=True), []
    for each in program.says:
        left = [line for line in lines if not re.search(each, line)]
        if len(left) == len(lines):
            unsaid.append(each)
        lines = left
    return "".join(lines), unsaid


def _first_difference(without: str, beside: str) -> str:
    before, after = without.splitlines(), beside.splitlines()
    for number in range(max(len(before), len(after))):
        pair = [lines[number] if number < len(lines) else "(end)" for lines in (before, after)]
        if pair[0] != pair[1]:
            return f"line {number + 1} is {pair[0]!r}, with it {pair[1]!r}"
    return "they end differently"


class _Landed:
    """What is in the lake of each program and role: `NAME/with`, `NAME/without`."""

    def __init__(self, lake: Path) -> None:
        self.ours: Counter[str] = Counter()
        self.others: Counter[str] = Counter()
        self.numbered: Counter[str] = Counter()
        """The highest number of a step, and so the fewest spans that one process made."""
        columns = ["resource_attributes", "scope_name", "attributes", "span_id"]
        seen: set[tuple[str, str]] = set()
        for row in landed(lake).select(columns).to_pylist():
            who = dict(row["resource_attributes"]).get(PROGRAM_KEY, "")
            if (who, row["span_id"]) in seen:  # a host's own exporter may send it, too
                continue
            seen.add((who, row["span_id"]))
            number = int(dict(row["attributes"]).get(STEP_INDEX, -1)) + 1
            self.numbered[who] = max(self.numbered[who], number)
            is_ours = row["scope_name"] == SCOPE_NAME
            (self.ours if is_ours else self.others)[who] += 1


def _counted(outcome: Outcome, found: _Landed) -> Outcome:
    """Return an outcome with the spans that landed."""
    program = outcome.program
    if outcome.skipped:
        return outcome
    before, after = (f"{program}/{role}" for role in ("without", "with"))
    counted = outcome._replace(landed=found.ours[after])
    return _with(counted, *_lacking(counted, found, before, after))


def _lacking(outcome: Outcome, found: _Landed, before: str, after: str) -> Iterator[str]:
    program, total = outcome.program, outcome.landed + outcome.lost
    said = f"{outcome.landed} spans landed and {outcome.lost} lost"
    if program.expected is not None and not program.expected.holds(total):
        yield f"{said} of {program.expected}"
    elif (
        outcome.landed + found.others[after] + sum(outcome.counts.values()) < found.numbered[after]
    ):
        yield f"{said} of at least {found.numbered[after]}"
    if found.others[before] > found.others[after]:
        yield f"the host's own spans: {found.others[before]}, with it {found.others[after]}"


def _with(outcome: Outcome, *differences: str) -> Outcome:
    return outcome._replace(differences=(*outcome.differences, *differences))
