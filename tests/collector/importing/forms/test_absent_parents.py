"""Langfuse's observations whose parent was never sent to it are roots."""

from pathlib import Path
from typing import Any

import pytest
from tests.collector.importing.imports import imported, written, written_lines
from tests.collector.importing.test_langfuse import TRACE, observations
from tests.collector.importing.together import Scene
from tests.scenes import built_together

ABSENT = "00000000000000ff"


def below_absent(**fields: Any) -> list[dict[str, Any]]:
    """Return a run whose first observation names a parent that is not in the export."""
    first, *rest = observations()
    return [{**first, "parentObservationId": ABSENT, **fields}, *rest]


@pytest.mark.parametrize(
    "fields",
    [
        {"isRootObservation": True},
        {"metadata": {"attributes": {"langfuse.internal.is_app_root": "true"}}},
    ],
)
@built_together
def test_root_that_says_so_is_the_run(folder: Path, fields: dict[str, Any]) -> Scene:
    """The newest interface marks it; its attribute does so in older ones."""
    outcome = yield imported(folder, written_lines(folder, below_absent(**fields)))

    roots = [row for row in outcome.spans() if row["parent_span_id"] is None]
    assert [row["name"] for row in roots] == ["run"]
    assert outcome.rows("SELECT user_input FROM trajectories") == [("Weather in Paris?",)]


@built_together
def test_parent_that_its_trace_lacks_is_absent(folder: Path) -> Scene:
    """A trace comes with all its observations, so a parent that is not there is none."""
    trace = {"id": TRACE, "sessionId": "s1"}
    file = written(folder, {"trace": trace, "observations": below_absent()})
    outcome = yield imported(folder, file)

    assert [row["name"] for row in outcome.spans() if row["parent_span_id"] is None] == ["run"]
    assert outcome.rows("SELECT conversation_id FROM trajectories") == [("s1",)]


def test_parent_in_another_line_is_kept(tmp_path: Path) -> None:
    """A file of lines may hold a part of a trace, so an observation keeps its parent."""
    outcome = imported(tmp_path, written_lines(tmp_path, below_absent()[1:]))

    assert {row["parent_span_id"] for row in outcome.spans()} != {None}
