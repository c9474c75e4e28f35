"""Documents as programs: their files are written, their commands run, and outputs compared.

A fenced block below a line that ends with "`file`:" is that file. A block of the language
`console` has commands behind `$ `, and below each what it prints on both streams; a line `…` is
any lines, and `…` in a line any text. Blocks of other languages are shown, and not run.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Final, NamedTuple

from .commands import tracegrade

_BLOCK: Final = re.compile(
    r"(?:`(?P<file>[\w./-]+)`:\n\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_COMMAND: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


class Shown(NamedTuple):
    """A command of a document, and what the document shows of its output."""

    command: str
    output: str


class Difference(NamedTuple):
    """A command that printed something else than its document shows."""

    command: str
    shown: str
    printed: str


class File(NamedTuple):
    """A file of a document, by its path."""

    path: str
    text: str


class Opening:
    """The commands with which many documents begin: each runs once, in a folder that is copied."""

    def __init__(self, folder: Path, lines: Sequence[str]) -> None:
        self._folder = folder
        self._lines = lines
        self._printed: list[str] = []
        self._folder_after(0).mkdir()

    def printed(self, steps: Sequence[Shown | File]) -> list[str]:
        """Return what the opening commands at the beginning of a document print."""
        number = 0
        for line, step in zip(self._lines, steps, strict=False):
            if not isinstance(step, Shown) or step.command != line:
                break
            number += 1
        while len(self._printed) < number:
            self._run_next()
        return self._printed[:number]

    def copy(self, number: int, folder: Path) -> None:
        """Make of an empty folder what the first commands make of it."""
        shutil.copytree(self._folder_after(number), folder, dirs_exist_ok=True)

    def _run_next(self) -> None:
        done = len(self._printed)
        folder = self._folder_after(done + 1)
        self.copy(done, folder)
        with chdir(folder):
            self._printed.append(output_of(self._lines[done], folder))

    def _folder_after(self, number: int) -> Path:
        return self._folder / str(number)


def run(document: str, folder: Path, opening: Opening) -> Iterator[Difference]:
    """Write a document's files into an empty folder and run its commands there, the current one.

    Yields:
        Each command that does not print what is shown.
    """
    steps = [*_steps(document)]
    begun = opening.printed(steps)
    opening.copy(len(begun), folder)
    for number, step in enumerate(steps):
        if isinstance(step, File):
            path = folder / step.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, "utf-8")
        else:
            printed = begun[number] if number < len(begun) else output_of(step.command, folder)
            if not matches(step.output, printed):
                yield Difference(step.command, step.output, printed)


def _steps(document: str) -> Iterator[Shown | File]:
    for block in _BLOCK.finditer(document):
        if block["file"]:
            yield File(block["file"], block["text"])
        elif block["language"] == "console":
            yield from commands(block["text"])


def commands(transcript: str) -> Iterator[Shown]:
    """Yield the commands of a block of the language `console`."""
    yield from (Shown(command, output) for command, output in _COMMAND.findall(transcript))


def output_of(command: str, folder: Path) -> str:
    """Run `tracegrade` or `python`; return what it prints on both streams, without a `> file`."""
    name, *words = shlex.split(command)
    if name == "python":
        python = [sys.executable, *words]
        done = subprocess.run(python, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr
    assert name == "tracegrade", f"this command is not run: {command}"
    if words[:2] == ["harness", "run"]:
        words.append("--yes-as-root")  # of tests that run without a sandbox
    if words[-2:-1] == [">"]:
        ended = tracegrade(*words[:-2])
        (folder / words[-1]).write_bytes(ended.output)
        return ended.stderr
    ended = tracegrade(*words)
    return ended.stdout + ended.stderr


def matches(shown: str, printed: str) -> bool:
    """Return whether an output is what a document shows of it, where `…` is any text."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…\n" else re.escape(line).replace("…", ".*")
        for line in shown.splitlines(keepends=True)
    )
    return re.fullmatch(pattern, _without_trailing_spaces(printed)) is not None


def _without_trailing_spaces(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
