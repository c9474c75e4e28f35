"""The fake model's answer to one request, for every API."""

from typing import NamedTuple


class Turn(NamedTuple):
    """What the model says to one request."""

    name: str
    """Makes the ids of what is said."""
    thought: str | None
    text: str | None
    calls: list[tuple[str, str]]
    """Tools and their arguments, as JSON."""

    def call_id(self, place: int) -> str:
        """Return the id of one of its calls."""
        return f"call_{self.name}" + (f"_{place}" if place else "")


def words(text: str) -> list[str]:
    """Return a text cut after each of its blanks, as streams send it."""
    cut = text.split(" ")
    return [f"{word} " for word in cut[:-1]] + cut[-1:]
