"""What comes in, in every form that can tell it, is read as what it is.

Each scene of a class is written in each form, all of them are built in one lake, and each is
asserted on its own. What a form cannot tell, it says, with the reason.
"""

from typing import Final, NamedTuple

import pytest
from tests.queries.changes.document import has_second
from tests.queries.classes.forms import FORMS
from tests.queries.classes.page import page
from tests.queries.classes.scenes import SCENES
from tests.queries.classes.scenes.scene import ClassScene
from tests.queries.classes.story import Form
from tests.queries.together import Together, built


class Written(NamedTuple):
    """A scene in a form."""

    of: str
    scene: ClassScene
    form: Form

    @property
    def name(self) -> str:
        """Return its name among all."""
        return f"{self.scene.name}-{type(self.form).__name__}"


WRITTEN: Final = [
    Written(of, each, form)
    for of, scenes in SCENES.items()
    for each in scenes
    for form in FORMS
    if each.lacking(form) is None
]


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AssertionError | None]:
    """What is wrong of each scene, None if nothing is: all of them are built at once."""
    scenes = {each.name: each.scene.written(each.form) for each in WRITTEN}
    with built(tmp_path_factory.mktemp("classes"), scenes) as together:
        return {name: _failure(together, name) for name in scenes}


def _failure(together: Together, name: str) -> AssertionError | None:
    try:
        together.go_on(name)
    except AssertionError as failure:
        return failure
    return None


@pytest.mark.parametrize("written", WRITTEN, ids=lambda each: each.name)
def test_scene_is_read(failures: dict[str, AssertionError | None], written: Written) -> None:
    """In this form."""
    if failure := failures[written.name]:
        raise failure


def test_what_a_form_lacks_is_asked_for() -> None:
    """Every stated reason is needed."""
    asked = {need for scenes in SCENES.values() for each in scenes for need in each.needs}

    assert {lack for form in FORMS for lack in form.lacks} - asked == set()


def test_document_has_the_table(failures: dict[str, AssertionError | None]) -> None:
    """It is made of this; WRITE_TABLE=1 writes it anew."""
    held = [written for written in WRITTEN if failures[written.name] is None]

    assert has_second(page(FORMS, held))
