"""Describes an agent without gate and spans by its exit code and last lines."""

from pathlib import Path
from typing import Final

from tracegrade.terminal.visible import visible
from tracegrade_harness.tape.entries import redacted

LINES: Final = 3
"""Lines of an agent's output that the reason shows."""
MAX_LINE_CHARS: Final = 200
_TAIL_BYTES: Final = 8192


def silent(exit_code: int | None, log: Path) -> str:
    """Return the description of an agent that announced no run and sent no span.

    Args:
        exit_code: The agent's exit code.
        log: Its output.
    """
    lines = last_lines(log)
    printed = f"printed last: {' | '.join(lines)}" if lines else "printed no line"
    fact = f"silent: the agent ended with {exit_code}, sent no span, and {printed}"
    return f"{fact}; see logs/{log.name}, start it with `tracegrade run --`, or verify the case"


def size(log: Path) -> int:
    """Return the number of bytes that an agent has printed so far."""
    return log.stat().st_size if log.exists() else 0


def last_lines(log: Path) -> list[str]:
    """Return the last lines of a log, without blank lines, each of at most 200 characters.

    Secrets are removed, and control characters of terminals are made visible.
    """
    lines = [line.strip() for line in redacted(tail(log)).splitlines()]
    return [_shortened(visible(line)) for line in lines if line][-LINES:]


def tail(log: Path) -> str:
    """Return the last 8 KiB of a log, without a partial line."""
    skipped = max(0, size(log) - _TAIL_BYTES)
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(skipped)
        text = file.read().decode(errors="replace")
    # A secret in a line that is cut could not be found.
    return text.partition("\n")[2] if skipped else text


def _shortened(line: str) -> str:
    return line if len(line) <= MAX_LINE_CHARS else f"{line[: MAX_LINE_CHARS - 3]}..."
