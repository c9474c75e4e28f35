"""Reads runs from the lake as judges see them: with every text redacted."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import duckdb

from tracegrade_collector.redact.redaction import Redactor
from tracegrade_judges.sql import query
from tracegrade_judges.verdict import JudgedStep

TEXTS: Final = ("arguments", "result", "content", "plan", "error_message")
"""Columns of a step that a judge may read and quote."""

_REPLACED: Final = re.compile(r"\[redacted:[^\]]*\]")


class AmbiguousCall(NamedTuple):
    """A call that rules give to several sub-goals."""

    trajectory_id: str
    """The agent that made it: the run, or a sub-agent's."""
    step_index: int
    candidates: tuple[str, ...]
    """In the order of the task file."""


class JudgedRun(NamedTuple):
    """A run that a judge can be asked about."""

    trajectory_id: str
    task_id: str
    agent_name: str | None
    release: str | None
    user_input: str | None
    final_answer: str | None
    first_turn: int
    """Turns of its conversation that earlier runs had."""
    plan_questions: tuple[str, ...] = ()
    """Questions about its plan that neither people nor a rule settled."""
    calls: tuple[AmbiguousCall, ...] = ()
    """The calls whose sub-goals only judges decided, or no verdict."""


class JudgedTurn(NamedTuple):
    """A user's question and an agent's answer."""

    number: int
    """Within the conversation, from 0."""
    question: str | None
    answered: str | None
    """None: there is no answer, or it was not captured."""
    step_index: int | None


def judgeable_runs(con: duckdb.DuckDBPyConnection, redactor: Redactor) -> list[JudgedRun]:
    """Return the runs of known tasks, ordered by id."""
    rows = con.sql(query("judgeable_runs")).fetchall()
    clean = iter(_redacted(redactor, (text for row in rows for text in row[4:6])))
    return [
        JudgedRun(
            *(row[0], row[1], row[2], row[3], next(clean), next(clean)),
            *(row[6], tuple(row[7]), _calls(row[8])),
        )
        for row in rows
    ]


def _calls(found: Iterable[Mapping[str, Any]]) -> tuple[AmbiguousCall, ...]:
    return tuple(
        AmbiguousCall(each["trajectory_id"], each["step_index"], tuple(each["candidates"]))
        for each in found
    )


def read_steps(
    con: duckdb.DuckDBPyConnection, trajectory_ids: Sequence[str], redactor: Redactor
) -> tuple[Mapping[str, list[JudgedStep]], frozenset[str]]:
    """Return the steps of some runs by their id, and the models that made them."""
    found = con.execute(query("steps_to_judge"), {"trajectory_ids": [*trajectory_ids]})
    names = [column[0] for column in found.description or ()]
    rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    clean = iter(_redacted(redactor, (row[name] for row in rows for name in TEXTS)))
    steps: dict[str, list[JudgedStep]] = {each: [] for each in trajectory_ids}
    for row in rows:
        row |= {name: next(clean) for name in TEXTS}
        steps[row["trajectory_id"]].append(_step(row))
    return steps, frozenset(row["model"] for row in rows if row["model"])


def turns_of(run: JudgedRun, steps: Sequence[JudgedStep]) -> list[JudgedTurn]:
    """Return the turns of a run, each with its last answer."""
    last = max((step.turn for step in steps), default=0)
    return [_turn(run, steps, turn, is_last=turn == last) for turn in range(last + 1)]


def _turn(run: JudgedRun, steps: Sequence[JudgedStep], turn: int, *, is_last: bool) -> JudgedTurn:
    of_turn = [step for step in steps if step.turn == turn]
    answers = [step for step in of_turn if step.kind == "answer"]
    questions = [step for step in of_turn if step.kind == "message" and step.role == "user"]
    messages = [step for step in of_turn if step.kind == "message" and step.role == "assistant"]
    step = next(reversed(answers or messages), None)
    answer = step.texts.get("content") if step else None
    question = questions[-1].texts.get("content") if questions else None
    return JudgedTurn(
        run.first_turn + turn,
        question if question is not None else run.user_input if turn == 0 else None,
        run.final_answer if answer is None and is_last else answer,
        step.number if step else None,
    )


def _step(row: Mapping[str, Any]) -> JudgedStep:
    return JudgedStep(
        row["step_index"],
        row["kind"],
        row["role"],
        row["tool_name"],
        row["status"],
        {name: row[name] for name in TEXTS if row[name] is not None},
        row["turn"],
        row["sub_goal"],
        is_whole=_is_whole(row),
    )


def _is_whole(row: Mapping[str, Any]) -> bool:
    """Return whether what a judge needs of a step was captured, and not replaced as a whole."""
    if row["kind"] == "tool_call":
        needed = ["arguments", "result"] if row["status"] == "ok" else ["arguments"]
    elif row["kind"] in {"thought", "message", "answer"}:
        needed = ["content"]
    else:  # an observation without text of its own is the result of its call
        needed = []
    return not any(row[name] is None or _REPLACED.fullmatch(row[name]) for name in needed)


def _redacted(redactor: Redactor, texts: Iterable[str | None]) -> list[str | None]:
    given = list(texts)
    clean = redactor.redact_texts([text or "" for text in given])
    return [None if text is None else each for text, each in zip(given, clean, strict=True)]
