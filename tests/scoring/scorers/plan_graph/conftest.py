"""The attempts of all tests of a module, whose sub-goals are scored together."""

from typing import NamedTuple

import pytest
from tests.scenes import finish, scenes_of

from .scored import Scene, Scored, several


class Together(NamedTuple):
    """The scores of the attempts of all tests of a module."""

    scenes: dict[str, tuple[Scene, list[Scored]]]
    """By the name of the test."""

    def go_on(self, name: str) -> None:
        """Let a test go on with its attempts."""
        scene, found = self.scenes[name]
        finish(scene, found)


@pytest.fixture(scope="module")
def together(request: pytest.FixtureRequest) -> Together:
    """The attempts of all tests of the module that are `built_together`."""
    scenes = {name: test() for name, test in scenes_of(request).items()}
    tried = {name: list(next(scene)) for name, scene in scenes.items()}
    found = iter(several(*(attempt for each in tried.values() for attempt in each)))
    return Together(
        {name: (scene, [next(found) for _ in tried[name]]) for name, scene in scenes.items()}
    )
