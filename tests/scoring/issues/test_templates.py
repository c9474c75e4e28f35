"""Templates of errors: equal for messages that differ in ids alone, different for others."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final
from uuid import UUID

import pytest
from tests.scoring.report.build import Tables

MESSAGES: Final = (
    "order {} not found",
    "user {} has no access to {}",
    "timeout after {} ms calling {}",
    "status code 404: {} is missing",
    "status code 500: {} is missing",
    "KeyError: {}",
    "connection to {} refused",
    "[Errno 28] No space left on device: {}",
    "[Errno 13] Permission denied: {}",
    '{{"error": "no stock for {}", "trace": "{}"}}',
    "invalid literal for int() with base 10: '{}'",
    "exit code 2: cannot stat {}",
    "exit code 127: {} not found",
    "Rate limit reached for {} in organization {} on tokens per min: Limit {}, Used {}",
)
NESTED: Final = {9, 10}
"""Messages whose ids are in quotes: an id that is quoted itself gives them a second template."""
DRAWS: Final = 40


def id_kinds(random: Random) -> Sequence[Callable[[], str]]:
    """Return what draws an id, one for each kind of id."""
    return (
        lambda: str(UUID(int=random.getrandbits(128))),
        lambda: str(random.randint(1, 10**7)),
        lambda: f"ord-{random.randint(1, 99_999)}",
        lambda: f"#W{random.randint(10**6, 10**7)}",
        lambda: f"user_{random.choice(['mia', 'raj', 'ann'])}_{random.randint(1000, 9999)}",
        lambda: hex(random.getrandbits(40)),
        lambda: f"{random.getrandbits(64):015x}7",
        lambda: f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}T09:11:04Z",
        lambda: f"/srv/{random.randint(1, 99)}/a_b.csv",
        lambda: f"'{random.choice(['Zoë', 'x', 'long text here'])}'",
        lambda: f"https://h{random.randint(1, 9)}.example/p/{random.randint(1, 999)}?q=.5",
        lambda: f"${random.random() * 1000:.2f}",
        lambda: f"{random.randint(1, 99)}%",
        lambda: f"c-{random.randint(1, 99)}",
        lambda: f"sk_live_{random.getrandbits(59):x}1",
    )


def failed_call(tables: Tables, error: str | None, **columns: Any) -> str:
    """Insert a run that lost a call of `look` to an error, and return its id."""
    kind = columns.pop("kind", "lost_call")
    step = {"tool_name": "look", "error_message": error, **columns.pop("step", {})}
    run = tables.run(**columns)
    tables.scored(run, columns.get("task_id"))
    tables.insert("steps", trajectory_id=run, step_index=3, kind="tool_call", **step)
    known = {name: tables.facts[run].get(name) for name in ("agent_name", "release", "task_id")}
    tables.insert("run_reasons", trajectory_id=run, rank_in_run=1, kind=kind, object="look",
                  sentence="look failed", key="of the reason", step_trajectory_id=run,
                  step_index=3, success=False, **known)  # fmt: skip
    return run


def issues(tables: Tables) -> dict[str, tuple[str, str | None]]:
    """Return the key and detail of the issue of each run."""
    rows = tables.con.sql("SELECT trajectory_id, issue, detail FROM issue_runs").fetchall()
    return {run: (issue, detail) for run, issue, detail in rows}


def test_ids_of_a_kind_do_not_split_an_issue_and_messages_do_not_merge(tables: Tables) -> None:
    """14 messages with 15 kinds of ids: 16 issues, of which two for quotes in quotes."""
    random = Random(3)  # noqa: S311 - it draws examples
    drawn = {
        failed_call(tables, message.format(*(draw() for _ in range(message.count("{}"))))):
        (number, kind)
        for (number, message), (kind, draw) in itertools.product(
            enumerate(MESSAGES), enumerate(id_kinds(random))
        )
        for _ in range(DRAWS)
    }  # fmt: skip
    found: dict[tuple[int, int], set[str]] = defaultdict(set)
    of_message: dict[int, set[str]] = defaultdict(set)
    for run, (issue, _) in issues(tables).items():
        found[drawn[run]].add(issue)
        of_message[drawn[run][0]].add(issue)

    assert {len(keys) for keys in found.values()} == {1}
    assert {number: len(keys) for number, keys in of_message.items()} == {
        number: 2 if number in NESTED else 1 for number in range(len(MESSAGES))
    }
    assert len(set.union(*of_message.values())) == len(MESSAGES) + len(NESTED)


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        ("look: no page 7", "<tool>: no page <*>"),
        ("look(look) failed", "<tool>(<tool>) failed"),
        ("first line 1\nTraceback: x", "first line <*>"),
        ('{"error": {"message": "quota of org_42 reached"}}', "quota of <*> reached"),
        ("{'detail': 'not a city'}", "not a city"),
        ("ids [1, 2, 3] and 4, 5 or 6", "ids <*>"),
        ("HTTP 404: gone", "HTTP <*> gone [404]"),
        ('{"rows": [{"id": 1}, {"st', None),
        ('[ {"status": 404, "id"', "[404]"),
        ("[Errno 2] gone", "[Errno <*>] gone [2]"),
        ("[tool] gone", "[tool] gone"),
        ("\x1b[31mred\u202e", "[<*>"),
        ("(" * 2_000, "(" * 160),
        ("  \n ", None),
        (None, None),
    ],
)
def test_message_becomes_a_template(tables: Tables, error: str | None, detail: str | None) -> None:
    """Code, tool and words remain; ids, lists and the rest of a text do not."""
    run = failed_call(tables, error)

    found = issues(tables)[run]
    assert found[1] == detail
    assert (found[0] == "of the reason") is (detail is None)


def test_class_precedes_the_template_unless_it_begins_with_it(tables: Tables) -> None:
    """So two classes of error with one message are two issues."""
    texts = [("KeyError", "KeyError: 'a'"), ("Slow", "no answer"), ("Gone", None)]
    runs = [failed_call(tables, text, step={"error_type": name}) for name, text in texts]

    found = issues(tables)
    assert [found[run][1] for run in runs] == ["KeyError: <*>", "Slow: no answer", "Gone"]


def test_key_is_of_facts_alone(tables: Tables) -> None:
    """It is the same for another release, task, mode and order, but not for another agent."""
    facts: list[dict[str, Any]] = [
        {}, {"release": "2"}, {"task_id": "t"}, {"run_mode": "mocked"}, {"agent": "other"},
        {"kind": "denied"}, {"step": {"result": "no page 4", "error_message": None}},
    ]  # fmt: skip
    runs = [failed_call(tables, f"no page {place}", **each) for place, each in enumerate(facts)]
    again = [failed_call(tables, "no page 99", **each) for each in reversed(facts)]

    found = issues(tables)
    keys = [found[run][0] for run in runs]
    assert keys == [found[run][0] for run in reversed(again)][: len(keys)]
    assert len({keys[0], *keys[1:4], keys[6]}) == 1
    assert len({*keys}) == 3


def test_other_reasons_have_the_key_of_the_reason(tables: Tables) -> None:
    """A wrong argument at a failed call is about the argument, not about the error."""
    run = failed_call(tables, "no page 7", kind="wrong_argument")

    assert issues(tables)[run] == ("of the reason", None)
