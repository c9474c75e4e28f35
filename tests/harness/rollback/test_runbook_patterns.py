"""Which objects a pattern of a runbook names, against the definition on random states.

It names what it stands for that is left, if it stands for nothing that was there before; else the
object that it is the name of, and what is in one collection: rows of one table, keys that begin
alike, items of one collection of a document or of a browser. Source: docs/guides/undo.md, "Write a
runbook"; docs/metrics.md, section 6.2.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import many

from tracegrade_harness.rollback.records import Claim, Records
from tracegrade_harness.rollback.rubric import ObservedState, judge, unheeded

TABLES = [
    f"{table}{row}"
    for table in ("postgres:shop/mails", "postgres:shop/orders", "sqlite:app/orders")
    for row in ("", "/1", "/12")
]
"""Tables and their rows."""
OTHERS = [f"{part}/{name}" for part in ("redis:cache", "files:data") for name in ("mail", "x")]
STATES = st.dictionaries(st.sampled_from([*TABLES, *OTHERS]), st.sampled_from("12"))

PLACES = ("postgres:shop/orders", "sqlite:app/or*", "*/orders", "redis:*")
PATTERNS = [
    *("/".join(pattern) for pattern in product(PLACES, ("*", "1", "1*", "?2", "mail"))),
    *(
        "/".join(pattern)
        for pattern in product(("redis:cache", "files:data"), ("*", "m*", "?ail"))
    ),
    *("postgres:shop/*", "sqlite:app/orders"),
]


def stands_for(pattern: str, name: str) -> bool:
    """Return whether each part of the name is one that the pattern's has in its place."""
    globs, parts = pattern.split("/"), name.split("/")
    return len(globs) == len(parts) and all(map(fnmatchcase, parts, globs))


def named(pattern: str, before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return what the pattern names, by the definition."""
    *place, last = pattern.split("/")
    literal = not any(character in "".join(place) for character in "*?")
    left = {name for name in {*before, *now} if before.get(name) != now.get(name)}
    of_rows = literal and len(place) == 2 and place[0].startswith(("postgres:", "sqlite:"))
    of_keys = literal and place[0].startswith("redis:") and last[0] not in "*?"
    if not of_rows and not of_keys and any(stands_for(pattern, name) for name in before):
        return left & {pattern}
    return {name for name in left if stands_for(pattern, name)}


@settings(max_examples=many(30))
@given(STATES, STATES)
def test_patterns_name_what_the_definition_says(
    before: dict[str, str], now: dict[str, str]
) -> None:
    """A runbook that names some of what is left is worth 3, one that names all of it 7."""
    for pattern in PATTERNS:
        claim = Claim(pattern, {"manual": "look"}, False, "runbook:R", is_pattern=True)
        seen = ObservedState(before, now, [], Records((claim,)))
        found = judge(seen)
        left, expected = {*found.leftovers}, named(pattern, before, now)

        assert {*found.named} == expected, pattern
        assert found.score == (10 if not left else 7 if expected == left else 3 * bool(expected))
        in_vain = not expected and any(stands_for(pattern, name) for name in left)
        assert bool(unheeded(seen)) == in_vain, pattern


ROW = f"postgres:shop/public.log/row:{'0a' * 16}"


@pytest.mark.parametrize(
    ("pattern", "names", "others"),
    [
        ("files:data/a.csv", ["files:data/a.csv"], ["files:data/a.csv.bak"]),
        ("files:data/old", ["files:data/old/"], ["files:data/old/a.csv"]),
        ("files:data/a[1].csv", ["files:data/a[1].csv"], ["files:data/a1.csv"]),
        ("files:data/*.csv", [], ["files:data/a.csv", "files:data/b.csv"]),
        ("sqlite:app/orders", ["sqlite:app/orders"], ["sqlite:app/orders/1"]),
        ("sqlite:app/orders/**", ["sqlite:app/orders/1"], ["sqlite:app/orders"]),
        ("postgres:shop/view:paid", ["postgres:shop/view:paid"], []),
        ("postgres:shop/public.log/*", [ROW, f"{ROW}/2", f"{ROW}/3"], ["postgres:shop/log/1"]),
        (ROW, [ROW, f"{ROW}/2"], [f"{ROW[:-1]}b/2"]),
        ("redis:cache", ["redis:cache"], ["redis:cache/a"]),
        ("redis:cache/jobs/*", ["redis:cache/jobs/1"], ["redis:cache/jobs", "redis:cache/job"]),
        ("redis:cache/jobs/**", ["redis:cache/jobs/1/log"], ["redis:cache/jobs"]),
        ("redis:cache/user:*/cart", ["redis:cache/user:7/cart"], ["redis:cache/user:7"]),
        ("redis:cache/mail[1]", ["redis:cache/mail[1]"], ["redis:cache/mail1"]),
        ("redis:cache/who?", ["redis:cache/who?"], []),
        ("redis:cache/*", [], ["redis:cache/a", "redis:cache/b"]),
        ("redis:cache/**", [], ["redis:cache/a", "redis:cache/jobs/1"]),
        ("http:bank/$.credits", ["http:bank/$.credits"], ["http:bank/$"]),
        ("http:bank/$.holds.*", ["http:bank/$.holds.h1"], ["http:bank/$.holds"]),
        ("http:bank/$.log[*]", ["http:bank/$.log[0]"], ["http:bank/$.log"]),
        ('http:bank/$."two words".*', ['http:bank/$."two words".x'], ["http:bank/$.two.x"]),
        ("http:bank/$.*", [], ["http:bank/$.credits", "http:bank/$.holds.h1"]),
        ("browser:desk/cookie:mail/*", ["browser:desk/cookie:mail/session"], []),
        ("browser:desk/local:http://mail/*", ["browser:desk/local:http://mail/theme"], []),
        ("browser:desk/local:http://*/theme", [], ["browser:desk/local:http://mail/theme"]),
        ("browser:desk/dom:#unread", ["browser:desk/dom:#unread"], []),
        ("browser:desk/*", [], ["browser:desk/cookie:mail", "browser:desk/dom:#unread"]),
    ],
)
def test_patterns_name_changed_objects_of_all_kinds(
    pattern: str, names: list[str], others: list[str]
) -> None:
    """By name, or as one collection of objects; in an environment where all of them changed."""
    before = dict.fromkeys([*names, *others], "1")
    claim = Claim(pattern, {"manual": "look"}, False, "runbook:R", is_pattern=True)
    found = judge(ObservedState(before, dict.fromkeys(before, "2"), [], Records((claim,))))

    assert [*found.named] == sorted(names)
