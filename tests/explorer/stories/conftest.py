"""One browser and the lakes of all stories, and what each story took."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest
from playwright.sync_api import Browser
from tests.explorer.browser import chromium, serving
from tests.explorer.kills.test_kill_pages import lake_of_kills
from tests.explorer.lakes import explorer
from tests.explorer.stories.lakes import airline, order_desk, spent, teams
from tests.explorer.stories.reader import StoryReader, reader_at
from tests.explorer.stories.table import STORIES, WRITE, StoryTaken, write_table

from tracegrade_lake import Lake

BeginStory: TypeAlias = Callable[[str, str], AbstractContextManager[StoryReader]]
"""Of a story's name and an address."""


class ServedLake(NamedTuple):
    """A lake, and where its pages are served."""

    lake: Lake
    base: str


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all stories of a file; two at once would share a thread."""
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def served(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], ServedLake]]:
    """Return a lake by its name; each is made when a story first needs it."""
    makers: dict[str, Callable[[Path], Lake]] = {
        "order desk": order_desk,
        "airline": lambda folder: airline(folder, request.getfixturevalue("shared_data")),
        "teams": teams,
        "spent": spent,
        "kills": lambda folder: lake_of_kills(folder / "lake"),
    }
    found: dict[str, ServedLake] = {}
    with ExitStack() as stack:

        def serve(name: str) -> ServedLake:
            if name not in found:
                lake = makers[name](tmp_path_factory.mktemp(name.replace(" ", "_")))
                pages = stack.enter_context(closing(explorer(lake)))
                stack.enter_context(closing(pages.latest))
                found[name] = ServedLake(lake, stack.enter_context(serving(pages)))
            return found[name]

        yield serve


@pytest.fixture(scope="session")
def taken() -> Iterator[dict[str, StoryTaken]]:
    """What stories took; the table is written if that is wanted, and each was walked."""
    found: dict[str, StoryTaken] = {}
    yield found
    if os.environ.get(WRITE):
        assert found.keys() == STORIES.keys(), "a story was not walked to its end"
        write_table(found)


@pytest.fixture
def story(browser: Browser, taken: dict[str, StoryTaken]) -> BeginStory:
    """Return a function that begins a story; at its end clicks and keys are held to their most."""
    return partial(_walk, browser, taken)


@contextmanager
def _walk(
    browser: Browser, taken: dict[str, StoryTaken], name: str, base: str
) -> Iterator[StoryReader]:
    with reader_at(browser, base) as reader:
        yield reader
        assert 0 < reader.counted <= STORIES[name].most, reader.actions
    before = taken.get(name, StoryTaken(0, 0.0))
    taken[name] = StoryTaken(max(reader.counted, before.actions), max(reader.secs, before.secs))
