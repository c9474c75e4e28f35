"""The table of the stories in the documents."""

from tests.explorer.stories.table import STORIES, StoryTaken, lines, table_rows


def test_the_document_has_each_story() -> None:
    """In order, within its most; `python -m tests.explorer.stories --write` writes them."""
    found = table_rows()

    assert [*found] == [*STORIES]
    for name, (actions, most) in found.items():
        assert 0 < actions <= most == STORIES[name].most


def test_a_story_has_a_row() -> None:
    """Its numbers are what was counted and measured."""
    written = [*lines({name: StoryTaken(1, 0.26) for name in STORIES})]

    assert len(written) == 2 + len(STORIES)
    assert all(line.endswith("| 0.3 |") for line in written[2:])
