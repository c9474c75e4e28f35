"""A lake of real and of made traces that nobody has built, what comes later, and all its rows."""

import shutil
from pathlib import Path
from unittest.mock import patch

from tests.queries.traces import capture, land, request_of, tool
from tests.scoring.build import specification
from tests.scoring.job.lakes import TASKS, child, run

from tracegrade_collector.importing.verdict_rows import add_clean_verdicts
from tracegrade_lake import Lake
from tracegrade_queries.build import build as building
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.executor import Executor
from tracegrade_queries.schema import STEPS, TRAJECTORIES
from tracegrade_scoring.job.run_scoring import ScoreSummary, score
from tracegrade_scoring.layer import SCORES
from tracegrade_scoring.schema import SCORE_TABLES

CAPTURES = (
    "agno_traceloop__toolerror",
    "autogen_swarm",
    "claude-code",
    "crewai_two-agents",
    "google-adk_content__halluc",
    "openai-agents_openinference_responses__toolerror",
)
TABLES = (STEPS, TRAJECTORIES, *SCORE_TABLES)

SPANS = 160
STEPS_BUILT = 80
"""About what there is in the lake, which is divided into buckets."""

Rows = dict[str, list[str]]


def land_all(place: Path | str, state: Path | None = None) -> Lake:
    """Return a new lake of six captures and ten made runs, of two dates."""
    lake = Lake.create(place, state)
    land(lake, *map(capture, CAPTURES))
    made = [run(i, *["look", "pay", "look"][: 1 + i % 3]) for i in range(1, 9)]
    land(lake, *made, child(9), run(10, "look", error="boom", task=None), seq=11, day=1)
    return lake


def more_comes(lake: Lake) -> None:
    """Land a new run, a late span of an old one, and a verdict on a third."""
    late = request_of([tool(9, 1, tool_name="pay", trace=1, at=9)])
    land(lake, run(11, "look", "pay"), late, seq=31, day=2)
    verdict = {"subject": "success", "sub_goal": None, "kill_point": None, "value": 0.0}
    named = {"trajectory_id": f"{2:032x}", "label": None, "source": "human", "evidence": None}
    add_clean_verdicts(lake, [{**verdict, **named}])


def copied(lake: Lake, place: Path) -> Lake:
    """Return a copy of the lake."""
    return Lake.open(shutil.copytree(lake.root, place))


def score_in(lake: Lake, buckets: int, executor: Executor | None = None) -> ScoreSummary:
    """Build and score what is new, in about so many buckets each."""
    spans, steps = SPANS // buckets, STEPS_BUILT // buckets
    with patch.object(building, "BUCKET_SPANS", spans):
        return score(lake, specification(TASKS), bucket_steps=steps, executor=executor)


def all_rows(lake: Lake) -> Rows:
    """Return every row of every built table with all columns, doubles bit for bit."""
    with connect(lake, layers=(SCORES,)) as con:
        return {
            table.name: [
                repr(row) for row in con.sql(f"FROM {table.name} ORDER BY ALL").fetchall()
            ]
            for table in TABLES
        }
