"""Documents as programs: their files are written, their commands run, and outputs compared.

A fenced block below a line that ends with "`file`:" is that file. A block of the language
`console` has commands behind `$ `, and below each what it prints on both streams; a line `…` is
any lines, and `…` in a line any text. Blocks of other languages are shown, and not run.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
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


def run(document: str, folder: Path) -> Iterator[Difference]:
    """Write a document's files into a folder and run its commands there, the current folder.

    Yields:
        Each command that does not print what is shown.
    """
    for block in _BLOCK.finditer(document):
        if block["file"]:
            path = folder / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], "utf-8")
        elif block["language"] == "console":
            for shown in commands(block["text"]):
                printed = output_of(shown.command, folder)
                if not matches(shown.output, printed):
                    yield Difference(shown.command, shown.output, printed)


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
