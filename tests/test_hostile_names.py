"""What comes from outside moves no cursor: commands print it for people with nothing that acts."""

import unicodedata
from pathlib import Path

import pytest
from tests.commands import tracegrade

HOSTILE = "x\x1b[31m\x1b]0;t\x07\x9b2J\u202ey\u2066\x00"
ACTING = ("Cc", "Cf", "Zl", "Zp")


def acting(text: str) -> list[str]:
    """Return the characters of a text that act, but for line ends."""
    return [each for each in text if each != "\n" and unicodedata.category(each) in ACTING]


@pytest.mark.parametrize(
    "command",
    [
        ("tasks", "check"),
        ("harness", "check"),
        ("compare", "a", "b", "--lake"),
        ("report", "--lake"),
        ("sql", "SELECT 1", "--lake"),
        ("no-such",),
    ],
)
def test_a_path_is_spelled_out(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Of a file that cannot be read, and of a file with a hostile content."""
    name = HOSTILE.replace("\x00", "")
    file = tmp_path / name
    file.write_text(f'tasks: [{{task_id: {ascii(name)[1:-1]!r}, "a\\u001b\\u202e": 1}}]')
    for path in (file, tmp_path / f"no{name}"):
        ended = tracegrade(*command, path)
        assert acting(ended.stdout + ended.stderr) == []
        assert ended.returncode
