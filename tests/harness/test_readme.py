"""The first suite of `harness/README.md` does what stands there, in a new folder."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.citations import ROOT
from tests.commands import tracegrade

SECTION = (ROOT / "harness" / "README.md").read_text("utf-8").split("\n## ")[1]
BLOCK = re.compile(r"(?:`([\w./]+)`:\n\n)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def transcript() -> Iterator[tuple[list[str], list[str]]]:
    """Yield each command, and lines that it prints."""
    (text,) = [found[3] for found in BLOCK.finditer(SECTION) if found[2] == "console"]
    for part in re.split(r"^\$ tracegrade ", text, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield shlex.split(command), lines


@pytest.mark.slow
def test_a_first_suite_does_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are written as they stand there, and the commands are run one after the other."""
    for name, _, text in (found.groups() for found in BLOCK.finditer(SECTION)):
        if name:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for words, lines in transcript():
        agreed = ["--yes-as-root"] if words[:2] == ["harness", "run"] else []  # without a sandbox
        ended = tracegrade(*words, *agreed)
        printed = (ended.stdout + ended.stderr).splitlines()

        assert ended.returncode == 0, ended.stderr
        assert [line for line in lines if line not in printed] == []
