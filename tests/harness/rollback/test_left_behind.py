"""What real processes leave in real parts when they are killed, and what that scores.

The table of `test_rubric.py` has what records say; here is what kernels and servers keep.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.harness.parts.environments import declare, make_sources
from tests.harness.parts.http.bank import bank_beside
from tests.harness.parts.postgres.shop import SHOP
from tests.harness.parts.redis.cache import CACHE
from tests.waiting import wait_until

from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.postgres import programs as postgres
from tracegrade_harness.parts.redis import programs as redis
from tracegrade_harness.rollback.part_locator import PartLocator
from tracegrade_harness.rollback.records import read_records
from tracegrade_harness.rollback.rubric import KillJudgment, ObservedState, judge
from tracegrade_harness.suite.model import Environment
from tracegrade_harness.suite.records import Journal

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not tell what is locked"
)

AGENT = """
import fcntl, json, os, sqlite3, sys, time, urllib.request

def journal(*objects, torn=False):
    with open("data/.rollback.jsonl", "a") as file:
        for name in objects:
            file.write(json.dumps({"object": name, "undo": {"manual": "look"}, "done": False}))
            file.write("" if torn else "\\n")

def ask(method, path, body=None):
    request = urllib.request.Request(os.environ["BANK_URL"] + path, method=method,
                                     data=json.dumps(body).encode() if body else None)
    urllib.request.urlopen(request).close()

def hold(price=3):
    ask("POST", "/holds?by=me", {"id": "h2", "price": price})

def ledger():
    return sqlite3.connect("data/ledger.db", isolation_level=None)

def shop():
    import psycopg
    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)

def cache():
    import redis
    return redis.Redis.from_url(os.environ["REDIS_URL"])

def locked(kind, path="data/raw/a.csv"):
    file = open(path, "r+")
    getattr(fcntl, kind)(file, fcntl.LOCK_EX)
    return file

def orphan(kind):
    file = locked(kind)
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)

def wait():
    print("ready", flush=True)
    time.sleep(600)
"""


@dataclass(frozen=True)
class Left:
    """What an agent does before it is killed, and what the rules give for what it leaves."""

    what: str
    score: int
    does: str
    part: str = "files"
    lives: bool = False
    """Only its first process is killed, or not even that: what it holds has a living holder."""


HOT = (
    "c = ledger(); c.execute('PRAGMA cache_size = 1'); c.execute('BEGIN')\n"
    'c.execute("INSERT INTO notes WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL '
    "SELECT x + 1 FROM n WHERE x < 5000) SELECT printf('%0100d', x) FROM n\")"
)
NEW_RUN = "ledger().execute(\"INSERT INTO runs VALUES (9, 'new', NULL)\")"
ORDER = "INSERT INTO orders (id, state) VALUES (9, 'new')"
LEFT = [
    # Files and what the kernel locks.
    Left("nothing", 10, ""),
    Left("a flock that died with its holder", 10, "x = locked('flock')"),
    Left("a flock of one that lives", 0, "x = locked('flock')", lives=True),
    Left("a flock of an orphan, whose parent is dead", 0, "orphan('flock')", lives=True),
    Left("a lock by range of one that lives", 0, "x = locked('lockf')", lives=True),
    Left(
        "a flock of one that lives, named",
        7,
        "x = locked('flock'); journal('files:data/raw/a.csv (flock)')",
        lives=True,
    ),
    Left("a lock file, whose maker is dead", 0, "open('data/run.lock', 'w').close()"),
    Left("half a file", 0, "open('data/out', 'w').write('hal')"),
    Left("half a file, named", 7, "open('data/out', 'w').write('h'); journal('files:data/out')"),
    Left("a journal and a torn one", 3,
         "open('data/a', 'w'); open('data/b', 'w'); journal('files:data/a');"
         "f = open('data/.rollback.jsonl', 'a'); f.write('{\"object\": \"fi'); f.flush()"),
    Left("a fifo", 0, "os.mkfifo('data/pipe')"),
    Left("a mode", 0, "os.chmod('data/run.sh', 0o777)"),
    # SQLite.
    Left("a hot journal alone", 10, HOT, "sqlite"),
    Left("an open transaction of one that lives", 0, HOT, "sqlite", lives=True),
    Left("a row", 0, NEW_RUN, "sqlite"),
    Left("a row, named", 7, f"{NEW_RUN}; journal('sqlite:ledger/runs/9')", "sqlite"),
    Left("a row, and a hot journal of more", 0, f"{NEW_RUN}\n{HOT}", "sqlite"),
    Left("a row and one more, one named", 3,
         f"{NEW_RUN}; journal('sqlite:ledger/runs/9'); ledger().execute('DELETE FROM lines')",
         "sqlite"),
    # HTTP.
    Left("a hold, and with it quota", 0, "hold()", "http"),
    Left("a hold and quota, the hold named", 3, "hold(); journal('http:bank/$.holds.h2')", "http"),
    Left("a hold and quota, both named", 7,
         "hold(); journal('http:bank/$.holds.h2', 'http:bank/$.credits')", "http"),
    Left("a hold that was given back", 10, "hold(); ask('DELETE', '/holds/h2')", "http"),
    # Redis.
    Left("a lock in Redis", 0, "cache().set('lock:orders', 'me', ex=600)", "redis"),
    Left("a lock in Redis, named", 7,
         "cache().set('lock:orders', 'me'); journal('redis:cache/lock:orders')", "redis"),
    Left("a key that was there again", 10, "c = cache(); c.delete('tags'); c.sadd('tags', 'green',"
         " 'red')", "redis"),
    Left("a transaction that was queued", 10,
         "p = cache().pipeline(); p.set('a', 1); p.set('b', 2)", "redis"),
    # PostgreSQL.
    Left("a row in PostgreSQL", 0, f'shop().execute("{ORDER}")', "postgres"),
    Left("a row in PostgreSQL, named", 7,
         f'shop().execute("{ORDER}"); journal("postgres:shop/public.orders/9")', "postgres"),
    Left("a transaction that died with its client", 10,
         f'c = shop(); c.execute("BEGIN"); c.execute("{ORDER}")', "postgres"),
    Left("a transaction of one that lives", 0,
         f'c = shop(); c.execute("BEGIN"); c.execute("{ORDER}")', "postgres", lives=True),
    Left("an advisory lock of one that lives", 0,
         'c = shop(); c.execute("SELECT pg_advisory_lock(42)")', "postgres", lives=True),
    Left("an advisory lock of one that lives, named", 7,
         'c = shop(); c.execute("SELECT pg_advisory_lock(42)");'
         'journal("postgres:shop (advisory lock 42)")', "postgres", lives=True),
    Left("an advisory lock that died with its client", 10,
         'c = shop(); c.execute("SELECT pg_advisory_lock(42)")', "postgres"),
    Left("a sequence that moved on", 10,
         'c = shop(); c.execute("SELECT nextval(\'orders_id_seq\')")', "postgres"),
]  # fmt: skip
AGAIN = [
    each
    for each in LEFT
    if each.what
    in {
        "a flock of one that lives",
        "a row and one more, one named",
        "a hold and quota, the hold named",
        "a lock in Redis",
        "a transaction of one that lives",
    }
]
SLOW = {
    "a lock in Redis, named",
    "a transaction that was queued",
    *(each.what for each in LEFT if each.part == "postgres"),
}
"""A server of PostgreSQL takes seconds, and more where connections have to end."""
WHY_NOT = {"redis": redis.why_not(), "postgres": postgres.why_not()}
LOCKS = ["files:**/*.lock", "redis:*/lock:*"]


def declared(folder: Path, part: str) -> Environment:
    """Return an environment of files, the database in them, and one more part."""
    parts: dict[str, Any] = {
        "files": {"data": {"from": "uploads", "at": "data"}},
        "sqlite": {"ledger": {"from": "ledger.sql", "at": "data/ledger.db"}},
    }
    (folder / "cache.redis").write_text(CACHE)
    (folder / "shop.sql").write_text(SHOP)
    more = {
        "http": {"bank": {**bank_beside(folder), "locks": ["$.holds.*"], "quota": ["$.credits"]}},
        "redis": {"cache": {"from": "cache.redis", "url_env": "REDIS_URL"}},
        "postgres": {"shop": {"from": "shop.sql", "url_env": "DATABASE_URL"}},
    }
    return declare(**parts, **({part: more[part]} if part in more else {}), locks=LOCKS)


@contextmanager
def killed(left: Left, environment: OpenedEnvironment, root: Path) -> Iterator[None]:
    """Run the agent until it is ready, and kill it, unless something of it is to live."""
    command = [sys.executable, "-c", f"{AGENT}\n{left.does}\nwait()"]
    variables = {**os.environ, **environment.variables}
    with subprocess.Popen(
        command, cwd=root, env=variables, stdout=subprocess.PIPE, start_new_session=True
    ) as agent:
        assert agent.stdout is not None
        try:
            assert agent.stdout.readline() == b"ready\n"
            if not left.lives or "orphan" in left.does:
                agent.kill()
                agent.wait()
            if not left.lives:  # a server takes a moment to see that its client is gone
                wait_until(lambda: not [name for name in environment.held() if "shop (" in name])
            yield
        finally:
            agent.kill()
            for cwd in Path("/proc").glob("[0-9]*/cwd"):
                end_in(cwd, root)


def end_in(cwd: Path, root: Path) -> None:
    """Kill a process that works in a folder."""
    try:
        if os.readlink(cwd) == str(root):
            os.kill(int(cwd.parent.name), 9)
    except OSError:
        return


class Templates:
    """Environments by what they have beside files, each frozen when it is first asked for."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._known: dict[str, tuple[Environment, EnvironmentTemplate]] = {}

    def __getitem__(self, part: str) -> tuple[Environment, EnvironmentTemplate]:
        if part not in self._known:
            folder = self._folder / part
            folder.mkdir()
            make_sources(folder)
            environment = declared(folder, part)
            template = self._stack.enter_context(closing(EnvironmentTemplate(environment, folder)))
            template.freeze(folder / "frozen")
            self._known[part] = environment, template
        return self._known[part]


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Templates]:
    """All of them."""
    with ExitStack() as stack:
        yield Templates(tmp_path_factory.mktemp("left"), stack)


def judged(left: Left, root: Path, templates: Templates) -> KillJudgment:
    """Return what the rules give for what the agent leaves in a fresh environment."""
    if why := WHY_NOT.get(left.part):
        pytest.skip(why)
    environment, template = templates[left.part]
    with closing(template.open(root)) as opened, killed(left, opened, root):
        now = opened.state()
        record = Journal(journal="data/.rollback.jsonl")
        records = read_records([record], {}, root, PartLocator(environment, root))
        return judge(ObservedState(template.before, now, opened.held(now), records))


@pytest.mark.parametrize(
    "left",
    [pytest.param(each, marks=[pytest.mark.slow] if each.what in SLOW else []) for each in LEFT],
    ids=[left.what for left in LEFT],
)
def test_what_a_killed_process_leaves_scores_what_is_declared(
    left: Left, templates: Templates, tmp_path: Path
) -> None:
    """Whatever holds it, and whether or not its holder lives."""
    found = judged(left, tmp_path.resolve(), templates)

    assert found.score == left.score, found


@pytest.mark.slow
@pytest.mark.parametrize("left", AGAIN, ids=[left.what for left in AGAIN])
def test_what_is_left_a_second_time_scores_as_before_for_the_same_reasons(
    left: Left, templates: Templates, tmp_path: Path
) -> None:
    """Ports, process ids and names of databases, which differ, are in no reason."""
    first, second = (judged(left, (tmp_path / n).resolve(), templates) for n in "12")

    assert first == second
