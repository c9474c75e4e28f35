"""The stories by name, and the table of what each took in `docs/internals/stories.md`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

PAGE: Final = Path(__file__).parents[3] / "docs" / "internals" / "stories.md"
WRITE: Final = "WRITE_STORIES"
"""The environment variable: whether a run of the tests writes the table."""


class Story(NamedTuple):
    """What a reader comes for."""

    about: str
    begins: str
    """The page that is open."""
    most: int
    """Clicks and keys that it may take, without those that write."""


class StoryTaken(NamedTuple):
    """What a story took; of several walks the longest."""

    actions: int
    secs: float


STORIES: Final[Mapping[str, Story]] = {
    "on call": Story("why the newest failure failed", "Now", 1),
    "wrong decision": Story("the first wrong decision: offered, called, expected", "Now", 2),
    "ship or not": Story("whether the newest release may ship, and why", "Now", 1),
    "SQL": Story("the rows of a query, after a mistake", "SQL", 2),
    "two runs": Story("a failed run side by side with its nearest success", "Now", 2),
    "label": Story("a verdict on a run; the next run opens", "queue", 2),
    "ten labels": Story("verdicts on ten runs, by keys alone", "queue", 20),
    "cost": Story("cost by agent, release, model, task or day", "Money", 1),
    "conversation": Story("the turn in which a conversation failed", "Conversations", 1),
    "live": Story("a run whose agent still works", "Now", 1),
    "share": Story("a copied link; a failed run in a folder of files", "run, report", 2),
    "plan graph": Story("the step of a call in the graph of sub-goals", "run", 1),
    "several agents": Story("the steps of one agent of a team", "run", 1),
    "kill": Story("what a killed run left behind", "run", 1),
}
_ROW: Final = re.compile(r"^\| ([\w ]+) \| .* \| .* \| (\d+) \| (\d+) \| [\d.]+ \|$", re.MULTILINE)


def lines(taken: Mapping[str, StoryTaken]) -> Iterator[str]:
    """Yield the table."""
    yield "| story | the reader sees | begins at | actions | at most | seconds |"
    yield "|---|---|---|---|---|---|"
    for name, story in STORIES.items():
        found = taken[name]
        yield (
            f"| {name} | {story.about} | {story.begins} | {found.actions} | {story.most} | "
            f"{found.secs:.1f} |"
        )


def write_table(taken: Mapping[str, StoryTaken]) -> None:
    """Write the table into its page."""
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition("| story |")
    after = re.sub(r"\A.*\n(?:\|.*\n)*", "", rest)
    PAGE.write_text(before + "\n".join(lines(taken)) + "\n" + after, "utf-8")


def table_rows() -> Mapping[str, tuple[int, int]]:
    """Return the actions that each story took and may take, as the page has them."""
    found = _ROW.findall(PAGE.read_text("utf-8"))
    return {name: (int(actions), int(most)) for name, actions, most in found}
