"""No answer about a random run is longer than it may be; `measure_mcp` asks about 500."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from tests.explorer.lakes import explorer
from tests.explorer.mcp_server.tool_calls import Caller, with_client
from tests.scoring.report.build import START, Tables, as_lake
from tests.slow import slow_after

from tracegrade_lake import Lake

RUNS: Final = 25
LAKES: Final = 3
LETTERS: Final = ("a", "word ", "<b>", "</trace>", "\u202e", "\x1b[1m", "\U0001f600", '"\\', "\n")
LONGEST: Final = 60_000
KINDS: Final = ("message", "thought", "tool_call", "observation", "plan", "answer")


def random_text(random: Random) -> str | None:
    """Return a text of any length, most of them short."""
    if random.random() < 0.1:
        return None
    letter = random.choice(LETTERS)
    return letter * (int(LONGEST ** random.random()) // len(letter))


def random_lake(root: Path, seed: int) -> Lake:
    """Return a lake of runs whose every text, name and number of steps is random."""
    random = Random(seed)  # noqa: S311 - the same lake each time
    with closing(Tables()) as tables:
        for _ in range(RUNS):
            _add_run(tables, random)
        return as_lake(tables, root)


def _add_run(tables: Tables, random: Random) -> None:
    name = (random_text(random) or "")[:500]
    run = tables.run(name, "agent", task_id=name, error_count=1, tool_call_count=2)
    count = int(200 ** random.random())
    for index in range(count):
        tables.insert("steps", **_step(random, run, index))
    for index in range(int(60 ** random.random())):
        tables.insert(
            "decisions", trajectory_id=run, decision_index=index, decision=random_text(random),
            picked_tool=name, expected_tool=random_text(random), correct=False,
            missed=bool(index % 2), counted=True, failed_criteria=["a"], task_id=name,
            reason=random_text(random), release=name, span_id=None,
        )  # fmt: skip
        tables.insert("failures", trajectory_id=run, mode="loop_trap", step_index=index % count,
                      detail=random_text(random))  # fmt: skip
        tables.insert("verdicts", trajectory_id=run, subject="success", value=0, source=name,
                      evidence=random_text(random))  # fmt: skip
        tables.insert("sub_goals", trajectory_id=run, sub_goal=f"{index}{name}", critical=True,
                      attempted=False, completed=False, task_id=name, release=name)  # fmt: skip
    tables.con.execute(
        "UPDATE trajectories SET user_input = $asked, final_answer = $answered, step_count = $n "
        "WHERE trajectory_id = $run",
        {"asked": random_text(random), "answered": random_text(random), "n": count, "run": run},
    )


def _step(random: Random, run: str, index: int) -> dict[str, Any]:
    texts = {name: random_text(random) for name in ("arguments", "result", "content")}
    return {
        "trajectory_id": run, "step_index": index, "start_time": START,
        "kind": random.choice(KINDS), "tool_name": (random_text(random) or "")[:300],
        "error_message": random_text(random), "status": random.choice(("ok", "error", None)),
        **texts,
    }  # fmt: skip


async def ask_about_all(caller: Caller) -> list[int]:
    """Return the lengths of the answers about each run; each is checked where it comes in."""
    ids: list[str] = []
    lengths: list[int] = []
    following: dict[str, Any] | None = {}
    while following is not None:
        answer = (await caller("search_runs", limit=50, **following)).data
        ids += [row["trajectory_id"] for row in answer["rows"]]
        following = answer.get("next")
    for run_id in ids:
        explained = await caller("explain_failure", id=run_id)
        assert len(explained.text) <= 4_000
        assert explained.data
        lengths.append(len(explained.text))
        for texts in ("short", "full"):
            shown = await caller("get_run", id=run_id, count=100, texts=texts)
            assert shown.data["steps"]
            lengths.append(len(shown.text))
    return lengths


@pytest.fixture
def pages_of(tmp_path: Path) -> Iterator[Any]:
    """Make pages over a lake, closed at the end."""
    opened = []

    def made(seed: int) -> Any:
        opened.append(explorer(random_lake(tmp_path / str(seed), seed)))
        return opened[-1]

    yield made
    for pages in opened:
        pages.close()
        pages.latest.close()


@pytest.mark.parametrize("seed", slow_after(1, [(seed,) for seed in range(LAKES)]))
def test_no_answer_is_too_long(pages_of: Any, seed: int) -> None:
    """Runs are explained in 4,000 characters, and shown in 24,000."""
    assert len(with_client(pages_of(seed), ask_about_all)) == 3 * RUNS
