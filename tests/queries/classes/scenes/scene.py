"""What a scene is: one way that something comes in, and what has to be read of it."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tests.queries.classes.story import Form
from tests.queries.together import Scene
from tests.queries.traces import TraceRows, rows

Written = Callable[[Form], Scene]


class ClassScene(NamedTuple):
    """A scene of a class, in any form."""

    name: str
    written: Written
    needs: frozenset[str]
    """What a form has to be able to tell, so that it can be written in it."""

    def lacking(self, form: Form) -> str | None:
        """Return why the form cannot tell it, or None if it can."""
        return next((why for what, why in form.lacks.items() if what in self.needs), None)


SCENES: Final[defaultdict[str, list[ClassScene]]] = defaultdict(list)
"""Those of each class, which is named in a sentence."""


def scene(of: str, *needs: str) -> Callable[[Written], Written]:
    """Add a scene to a class."""

    def add(written: Written) -> Written:
        SCENES[of].append(ClassScene(written.__name__, written, frozenset(needs)))
        return written

    return add


def calls(lake: TraceRows, columns: str = "tool_name, arguments, status") -> list[Any]:
    """Return these columns of each call, in order."""
    found = rows(
        lake,
        f"SELECT {columns} FROM steps WHERE kind = 'tool_call' ORDER BY trajectory_id, step_index",
    )
    return [tuple(row.values()) for row in found]


def runs(lake: TraceRows, columns: str) -> list[Any]:
    """Return these columns of each run."""
    found = rows(lake, f"SELECT {columns} FROM trajectories ORDER BY trajectory_id")
    return [tuple(row.values()) for row in found]
