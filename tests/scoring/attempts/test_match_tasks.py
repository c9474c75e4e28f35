"""Patterns of tasks, asked all at once, fit and bind as the engine says of each by itself."""

from itertools import product
from random import Random

import duckdb
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.scoring.build import GIVEN, connection, trajectory

from tracegrade_scoring.sql import RELATIONS
from tracegrade_scoring.tasks import Specification

PARTS = ("a", "K", "k", "ſ", "ß", "SS", "É", "é", "1", "-", " ", "\n", "ab", "c-1")  # noqa: RUF001
SIGNS = (".", ".*", "^", "$", r"\b", r"\d+", r"\s", "[a-c]", "[^a]+", "(?:a|É)", "(?P<{}>k|1)?")
MATCHED = ("attempt_bindings", "task_candidates")
FLAGS = ("", "(?i)", "(?s)", "(?m)", "(?U)")


def some_pattern(random: Random) -> str:
    """Return a pattern of a few parts, in which each name stands once."""
    parts = [random.choice(PARTS + SIGNS).format(f"n{i}") for i in range(random.randint(1, 5))]
    return random.choice(FLAGS) + "".join(parts)


def some_text(random: Random) -> str:
    """Return a text of a few parts."""
    return "".join(random.choices(PARTS, k=random.randint(0, 8)))


def by_itself(
    con: duckdb.DuckDBPyConnection, pattern: str, texts: list[str]
) -> list[tuple[bool, dict[str, str]]]:
    """Return of each text whether a pattern is found in it, and what its groups match, if so."""
    names = [f"n{i}" for i in range(5) if f"(?P<n{i}>" in pattern]
    groups = [f"regexp_extract(texts[place], $pattern, {i})" for i in range(1, len(names) + 1)]
    asked = ", ".join(["regexp_matches(texts[place], $pattern)", *groups])
    rows = con.execute(
        f"SELECT {asked} FROM (SELECT $texts AS texts), "
        f"range(1, {len(texts) + 1}) AS places (place) ORDER BY place",
        {"texts": texts, "pattern": pattern},
    ).fetchall()
    return [
        (fits, {name: value for name, value in zip(names, found, strict=True) if value})
        for fits, *found in rows
    ]


@settings(max_examples=15, phases=[Phase.generate], deadline=None)
@given(st.integers(min_value=0))
def test_patterns_fit_and_bind_together_as_alone(seed: int) -> None:
    """Each text gets the tasks whose patterns fit it; a run with a named task gets the values."""
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    patterns = {f"task{i}": some_pattern(random) for i in range(6)}
    texts = [some_text(random) for _ in range(12)]
    told = [random.choice((None, *patterns)) for _ in texts]
    runs = [
        trajectory(f"t{i:02}", user_input=text, task_id=task)
        for i, (text, task) in enumerate(zip(texts, told, strict=True))
    ]
    tasks = {name: {"match": {"user_input": pattern}} for name, pattern in patterns.items()}
    specification = Specification.model_validate({"tasks": tasks})
    with connection([], runs) as con:
        RELATIONS.run(con, MATCHED, GIVEN, context=specification)
        each = {name: by_itself(con, pattern, texts) for name, pattern in patterns.items()}
        alone = [{name: found[i] for name, found in each.items()} for i in range(len(texts))]
        matched = con.sql("SELECT attempt_id, task_id FROM task_candidates").fetchall()
        bound = con.sql("SELECT attempt_id, name, value FROM attempt_bindings").fetchall()

    fitting = [
        [name for name, (fits, _) in found.items() if fits and told[i] is None]
        for i, found in enumerate(alone)
    ]
    known = [told[i] or (names[0] if len(names) == 1 else None) for i, names in enumerate(fitting)]
    assert sorted(matched) == [
        (f"t{i:02}", name) for i, names in enumerate(fitting) for name in names
    ]
    assert sorted(bound) == [
        (f"t{i:02}", *pair)
        for i, task in enumerate(known)
        if task
        for pair in sorted(alone[i][task][1].items())
    ]


def test_any_number_of_long_patterns_is_asked() -> None:
    """More patterns than RE2 holds at a time still find each its runs, in the last part, too."""
    random = Random(1)  # noqa: S311 - no secret hangs on it
    asked = [" ".join(random.choices(WORDS, k=16)) for _ in range(2_000)]
    tasks = {f"task{i}": {"match": {"user_input": text}} for i, text in enumerate(asked)}
    texts = {"t1": asked[0], "t2": f"{asked[1_999]} and {asked[700]}", "t3": "nothing"}
    runs = [trajectory(name, user_input=text) for name, text in texts.items()]
    specification = Specification.model_validate({"tasks": tasks})
    with connection([], runs) as con:
        RELATIONS.run(con, MATCHED, GIVEN, context=specification)
        found = con.sql("SELECT attempt_id, task_id FROM task_candidates ORDER BY ALL").fetchall()

    assert found == [("t1", "task0"), ("t2", "task1999"), ("t2", "task700")]


WORDS = ["".join(letters) for letters in product("abcdefghij", repeat=4)]
