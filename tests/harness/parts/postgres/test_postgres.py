"""PostgreSQL databases are restored for each trial; what differs or is held there is named."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.examples import many
from tests.harness.parts.postgres.shop import (
    SHOP,
    connect,
    execute,
    needs_postgres,
    opened_shop,
    shop_template,
)
from tests.slow import slow_after

from tracegrade_harness.errors import EnvironmentFailed
from tracegrade_harness.parts.environment import EnvironmentTemplate, OpenedEnvironment
from tracegrade_harness.parts.postgres import server

pytestmark = needs_postgres

PART = "postgres:shop"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EnvironmentTemplate]:
    """The shop, frozen."""
    with closing(shop_template(tmp_path_factory.mktemp("shop"))) as made:
        yield made


def test_a_port_that_somebody_takes_meanwhile_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server comes up on another one."""
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("", 0)) as found:
        free = found.getsockname()[1]
        found.close()
        ports = iter([taken.getsockname()[1], free])
        monkeypatch.setattr(server, "free_port", lambda: next(ports))
        with closing(server.PostgresServer.empty()) as started:
            assert started.address.port == free


DUMP = """\\restrict abc
CREATE TABLE t (a int, b text, at timestamptz DEFAULT now());
COPY public.t (a, b) FROM stdin;
1\tx
2\t\\N
\\.
CREATE INDEX i ON t (a);
\\unrestrict abc
"""
RULES = ["public.log", "public.orders.at", "function:public.*", "public.lines/a*"]


class Dumped(NamedTuple):
    """A shop with more tables and rules, frozen by one harness and found by another."""

    first: str
    """What it was to the first."""
    template: EnvironmentTemplate
    """What it is to the other."""


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dumped]:
    """The shop with tables of a script of `pg_dump`."""
    folder = tmp_path_factory.mktemp("dumped")
    with closing(shop_template(folder, SHOP + DUMP, ignore=RULES)) as made:
        first = made.fingerprint()
    with closing(shop_template(folder, SHOP + DUMP, ignore=RULES)) as again:
        yield Dumped(first, again)


@pytest.fixture
def shop(template: EnvironmentTemplate, tmp_path: Path) -> Iterator[OpenedEnvironment]:
    """The shop of one trial."""
    with opened_shop(template, tmp_path) as environment:
        yield environment


@pytest.fixture(scope="module")
def kept_shop(
    template: EnvironmentTemplate, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenedEnvironment]:
    """The shop of one trial, in which tests change nothing."""
    with opened_shop(template, tmp_path_factory.mktemp("kept")) as environment:
        yield environment


def changes(environment: OpenedEnvironment) -> dict[str, list[str]]:
    """Return what differs from before, without the part's name; empty lists are left out."""
    difference = environment.difference()._asdict()
    short = {
        key: [name.removeprefix(f"{PART}/") for name in names] for key, names in difference.items()
    }
    return {key: names for key, names in short.items() if names}


def test_the_agent_owns_all_in_its_database(shop: OpenedEnvironment) -> None:
    """It finds what the script made, and may change it, schema and all."""
    with connect(shop) as connection:
        rows = connection.execute("SELECT id, state FROM orders ORDER BY id").fetchall()
        connection.execute("ALTER TABLE orders ADD COLUMN note text")
        connection.execute("CREATE SCHEMA mine")
        connection.execute("CREATE EXTENSION citext")

    assert rows == [(1, "paid"), (2, "new")]


@pytest.mark.parametrize(
    "statement",
    [
        "COPY (SELECT 1) TO PROGRAM 'true'",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT rolpassword FROM pg_authid",
        "SET ROLE postgres",
        "SET SESSION AUTHORIZATION reader",
        "CREATE ROLE other",
        "ALTER SYSTEM SET fsync = on",
        "CREATE DATABASE other",
        "DO $$ BEGIN EXECUTE 'DROP DATABASE ' || current_database(); END $$",
        "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET jit = on'; END $$",
    ],
)
def test_the_agent_has_no_rights_beyond_it(kept_shop: OpenedEnvironment, statement: str) -> None:
    """Neither on the server nor on the files of its machine."""
    import psycopg  # noqa: PLC0415 - there where the shop is

    with connect(kept_shop) as connection, pytest.raises(psycopg.Error):
        connection.execute(statement)


def test_an_agent_reaches_no_other_database(
    template: EnvironmentTemplate, shop: OpenedEnvironment, tmp_path: Path
) -> None:
    """Neither the template's, nor another trial's, nor those that a server has for itself."""
    import psycopg  # noqa: PLC0415 - there where the shop is

    url, _, _ = shop.variables["DATABASE_URL"].rpartition("/")
    with opened_shop(template, tmp_path / "other") as other:
        names = [other.variables["DATABASE_URL"].rpartition("/")[2]]
        for name in [*names, "frozen", "postgres"]:
            with pytest.raises(psycopg.OperationalError, match="permission denied"):
                psycopg.connect(f"{url}/{name}")


CHANGES: list[tuple[str, dict[str, list[str]]]] = [
    ("REFRESH MATERIALIZED VIEW states", {}),
    ("INSERT INTO orders (state) VALUES ('new')", {"added": ["public.orders/3"]}),
    ("UPDATE orders SET state = 'sent' WHERE id = 1", {"changed": ["public.orders/1"]}),
    ("DELETE FROM orders WHERE id = 2", {"removed": ["public.orders/2"]}),
    ("DELETE FROM lines WHERE number = 1", {"removed": [r"public.lines/a\x2fb,1"]}),
    ("DELETE FROM lines WHERE number = 2", {"removed": ["public.lines/'7',2"]}),
    ("DELETE FROM lines WHERE number = 3", {"removed": ["public.lines/'',3"]}),
    ("CREATE INDEX a ON log (said)", {"added": ["public.log/index:a"]}),
    ("CREATE VIEW v AS SELECT 1", {"added": ["view:public.v"]}),
    ("CREATE FUNCTION f(int, text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
     {"added": ["function:public.f(integer, text)"]}),
    ("CREATE OR REPLACE FUNCTION total() RETURNS numeric LANGUAGE sql AS 'SELECT 1.0'",
     {"changed": ["function:public.total()"]}),
    ("ALTER TABLE log ALTER said SET DEFAULT 'x'", {"changed": ["public.log/column:said"]}),
    ("ALTER TABLE lines ADD CHECK (number > 0)",
     {"added": ["public.lines/constraint:lines_number_check"]}),
    ("CREATE RULE r AS ON DELETE TO log DO INSTEAD NOTHING",
     {"added": ["public.log/rule:r"]}),
    ("CREATE TYPE mood AS ENUM ('a')", {"added": ["type:public.mood"]}),
    ("CREATE SCHEMA s", {"added": ["schema:s"]}),
    ("CREATE SEQUENCE s", {"added": ["sequence:public.s"]}),
    ("CREATE CAST (orders AS lines) WITH INOUT",
     {"added": ["cast:(public.orders AS public.lines)"]}),
    ("SELECT lo_from_bytea(4711, 'abc')", {"added": ["large_object:4711"]}),
    ("COMMENT ON TABLE log IS 'mine'", {"added": ["comment:table public.log"]}),
    ("GRANT SELECT ON log TO PUBLIC", {"changed": ["public.log"]}),
    ("SELECT nextval('orders_id_seq')", {}),
    ("BEGIN; DELETE FROM orders; ROLLBACK", {}),
    ("CREATE TEMP TABLE t (x int)", {}),
    ('CREATE TABLE "a/b:c.d\n" ()', {"added": [r"public.a\x2fb\x3ac\x2ed\x0a"]}),
]  # fmt: skip
"""Independent statements, and the changes that each makes."""


def test_changes_are_named(shop: OpenedEnvironment) -> None:
    """By the row's key, or by what of the schema it is; and nothing else is."""
    execute(shop, *(statement for statement, _ in CHANGES))

    named = {
        kind: sorted(name for _, changed in CHANGES for name in changed.get(kind, ()))
        for kind in ("added", "changed", "removed")
    }
    assert {kind: sorted(names) for kind, names in changes(shop).items()} == named


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "changed"), CHANGES)
def test_a_change_is_named(
    shop: OpenedEnvironment, statement: str, changed: dict[str, list[str]]
) -> None:
    """Each change differs from all others."""
    execute(shop, statement)

    assert changes(shop) == changed


def test_rows_without_a_key_are_named_by_content_and_counted(shop: OpenedEnvironment) -> None:
    """Of equal rows each is an object."""
    execute(shop, "INSERT INTO log VALUES ('hello', 'me')", "DELETE FROM log WHERE said IS NULL")
    found = changes(shop)

    assert found["added"][0].endswith("/3")
    assert [len(found["added"]), len(found["removed"])] == [1, 1]


def test_sequences_are_counted_as_ignored(shop: OpenedEnvironment) -> None:
    """They move on even where everything is rolled back."""
    execute(shop, "SELECT nextval('orders_id_seq')")

    assert shop.ignored_changes() == {"sequence:*/value": 1}


def test_tables_columns_and_functions_can_be_ignored(dumped: Dumped, tmp_path: Path) -> None:
    """A rule for a table hides its rows and indexes, too."""
    with opened_shop(dumped.template, tmp_path) as shop:
        execute(
            shop,
            "UPDATE orders SET at = 'epoch' WHERE id = 1",
            "DELETE FROM log",
            "CREATE INDEX x ON log (said)",
            "DROP FUNCTION total()",
            "DELETE FROM lines WHERE number = 1",
        )

        assert changes(shop) == {}
        assert shop.ignored_changes() == {
            "public.log": 4,
            "public.orders.at": 1,
            "function:public.*": 1,
            "public.lines/a*": 1,
        }


MUTATIONS = {
    "public.orders/1": "UPDATE orders SET total = total + 1 WHERE id = 1",
    "public.orders/2": "DELETE FROM orders WHERE id = 2",
    "public.orders/9": "INSERT INTO orders (id, state) VALUES (9, 'new')",
    "public.lines/'',3": "DELETE FROM lines WHERE number = 3",
    "public.log/index:i": "CREATE INDEX i ON log (by)",
    "view:public.v": "CREATE VIEW v AS TABLE log",
    "function:public.total()": "DROP FUNCTION total()",
    "schema:s": "CREATE SCHEMA s",
}


@pytest.mark.slow
@settings(
    max_examples=many(5),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(done=st.sets(st.sampled_from(sorted(MUTATIONS))))
def test_random_changes_are_named_and_the_next_trial_has_none(
    template: EnvironmentTemplate, tmp_path: Path, done: set[str]
) -> None:
    """Exactly what was changed differs; the restored fingerprint is the frozen one."""
    with opened_shop(template, tmp_path) as environment:
        execute(environment, *(MUTATIONS[name] for name in sorted(done)))
        named = {name.removeprefix(f"{PART}/") for name in environment.difference().names}
        with closing(environment.clone(tmp_path / "copy")) as copy:
            assert copy.state() == environment.state()
    with opened_shop(template, tmp_path) as again:
        assert again.fingerprint() == template.fingerprint()

    assert named == done


def test_a_frozen_database_is_the_same_for_every_harness(dumped: Dumped) -> None:
    """The script is run once, so what it asks of the clock stays what it was."""
    assert dumped.template.fingerprint() == dumped.first


def test_a_script_of_pg_dump_is_taken(dumped: Dumped, tmp_path: Path) -> None:
    """Its rows come between the statements; lines for psql alone are passed over."""
    with opened_shop(dumped.template, tmp_path) as shop, connect(shop) as connection:
        rows = connection.execute("SELECT a, b FROM t ORDER BY a").fetchall()

    assert rows == [(1, "x"), (2, None)]


@pytest.mark.parametrize(
    ("script", "fault"),
    slow_after(
        1,
        [
            ("CREATE TABLE t ();\nSELECT wrong;\n", 'line 2: column "wrong" does not exist'),
            ("CREATE TABLE t ();\nCOPY t FROM PROGRAM 'id';", "from line 1 on: must be superuser"),
        ],
    ),
)
def test_a_script_that_does_not_run_is_an_error(tmp_path: Path, script: str, fault: str) -> None:
    """It has no more rights than an agent, and the error names the line."""
    with pytest.raises(EnvironmentFailed, match=fault):
        shop_template(tmp_path, script)


OPEN = {
    "a transaction": (
        "BEGIN; UPDATE orders SET state = 'x' WHERE id = 1",
        [f"{PART} (transaction)", f"{PART}/public.orders (RowExclusiveLock)"],
    ),
    "an advisory lock": ("SELECT pg_advisory_lock(42)", [f"{PART} (advisory lock 42)"]),
    "a lock of two numbers": ("SELECT pg_advisory_lock(4, 2)", [f"{PART} (advisory lock 4,2)"]),
}


@pytest.mark.parametrize("what", slow_after(1, OPEN))
def test_what_a_living_connection_holds_is_held(
    template: EnvironmentTemplate, tmp_path: Path, what: str
) -> None:
    """It is not a change: nothing is committed."""
    statement, held = OPEN[what]
    with opened_shop(template, tmp_path) as shop, connect(shop) as connection:
        connection.execute(statement)

        assert shop.held() == held
        assert changes(shop) == {}


@pytest.mark.slow
def test_what_a_killed_client_held_is_let_go(shop: OpenedEnvironment) -> None:
    """PostgreSQL ends what a process had begun when it finds it dead, in the midst of a query."""
    program = (
        "import psycopg, sys\n"
        "connection = psycopg.connect(sys.argv[1])\n"
        "connection.execute(\"UPDATE orders SET state = 'x'\")\n"
        "connection.execute('SELECT pg_advisory_lock(1)')\n"
        "print('open', flush=True)\n"
        "connection.execute('SELECT pg_sleep(3600)')\n"
    )
    command = [sys.executable, "-c", program, shop.variables["DATABASE_URL"]]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        client.stdout.readline()
        held_by_the_living = shop.held()
        client.kill()

    assert f"{PART} (advisory lock 1)" in held_by_the_living
    assert shop.held() == []
    assert changes(shop) == {}


def test_a_prepared_transaction_outlives_its_client(
    template: EnvironmentTemplate, tmp_path: Path
) -> None:
    """It is held, with its locks; its database is copied as it was before, and removed."""
    with opened_shop(template, tmp_path) as shop:
        execute(shop, "BEGIN; DELETE FROM log; PREPARE TRANSACTION 'half/way'")

        assert shop.held() == [
            f"{PART} (prepared transaction half/way)",
            f"{PART}/public.log (RowExclusiveLock)",
        ]
        with closing(shop.clone(tmp_path / "copy")) as copy:
            assert copy.held() == []


def test_a_locked_table_is_told_and_its_rows_count_as_they_were(shop: OpenedEnvironment) -> None:
    """A reader that waited for its lock would wait for ever."""
    with connect(shop) as connection:
        connection.execute("BEGIN; ALTER TABLE orders ADD COLUMN x int")

        assert changes(shop)["changed"][-1] == "public.orders"
        assert "removed" not in changes(shop)


def test_two_trials_at_once_do_not_see_each_other(
    template: EnvironmentTemplate, tmp_path: Path
) -> None:
    """Each has a database of its own, opened, changed and closed beside the others."""

    def tried(number: int) -> dict[str, list[str]]:
        with opened_shop(template, tmp_path / str(number)) as shop:
            execute(shop, f"INSERT INTO orders (id, state) VALUES ({number}, 'x')")
            return changes(shop)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(tried, range(10, 18)))

    assert found == [{"added": [f"public.orders/{number}"]} for number in range(10, 18)]


HOSTILE = """
CREATE TABLE proof (who text);
GRANT ALL ON SCHEMA public TO PUBLIC;
GRANT ALL ON proof TO PUBLIC;
CREATE FUNCTION trap() RETURNS text LANGUAGE plpgsql AS $$
BEGIN INSERT INTO public.proof VALUES (current_user); RETURN current_user; END $$;
CREATE FUNCTION trapped(text, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT length(trap())';
CREATE FUNCTION hashtextextended(text, bigint) RETURNS bigint LANGUAGE sql AS
  'SELECT public.trapped($1, $2)';
CREATE FUNCTION md5(text) RETURNS text LANGUAGE sql AS 'SELECT public.trap()';
CREATE FUNCTION left_is(text, text) RETURNS boolean LANGUAGE sql AS
  'SELECT public.trap() IS NOT NULL';
CREATE OPERATOR <> (LEFTARG = text, RIGHTARG = text, FUNCTION = left_is);
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE FUNCTION as_text(mood) RETURNS text LANGUAGE sql AS 'SELECT public.trap()';
CREATE CAST (mood AS text) WITH FUNCTION as_text(mood) AS IMPLICIT;
CREATE FUNCTION as_json(mood) RETURNS json LANGUAGE sql AS 'SELECT to_json(public.trap())';
CREATE CAST (mood AS json) WITH FUNCTION as_json(mood) AS IMPLICIT;
CREATE TABLE moods (t mood, id int CHECK (public.trap() IS NOT NULL OR id > 0) NO INHERIT);
ALTER TABLE moods ENABLE ROW LEVEL SECURITY;
ALTER TABLE moods FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON moods USING (public.trap() IS NULL) WITH CHECK (true);
CREATE VIEW v AS SELECT public.trap() AS x;
CREATE RULE r AS ON UPDATE TO moods DO ALSO SELECT public.trap();
ALTER ROLE CURRENT_USER SET search_path = public;
"""


def test_code_that_an_agent_left_is_not_run(shop: OpenedEnvironment) -> None:
    """Whatever it gave PostgreSQL's names to: functions, operators, casts, policies."""
    execute(
        shop,
        HOSTILE,
        "INSERT INTO moods VALUES ('good', 1)",
        "TRUNCATE proof",
    )
    found = changes(shop)
    shop.held()
    with connect(shop) as connection:
        rows: Any = connection.execute("SELECT * FROM proof").fetchall()

    assert rows == []
    assert any(name.startswith("public.moods/row:") for name in found["added"])


def test_output_is_read_in_one_way_whatever_an_agent_sets(shop: OpenedEnvironment) -> None:
    """The settings that its role logs in with are those of its own sessions alone."""
    setting = "EXECUTE format('ALTER ROLE %I SET DateStyle = SQL', session_user)"
    execute(shop, f"SET ROLE NONE; DO $$ BEGIN {setting}; END $$")
    with connect(shop) as connection:
        style = connection.execute("SHOW DateStyle").fetchone()

    assert style == ("SQL, MDY",)
    assert changes(shop) == {}


@pytest.mark.slow
def test_a_value_of_twenty_megabytes_is_an_object_like_others(shop: OpenedEnvironment) -> None:
    """Its digest is made on the server."""
    execute(shop, "INSERT INTO log VALUES (repeat('x', 20000000))")
    found = changes(shop)

    assert [*found] == ["added"]
    assert found["added"][0].startswith("public.log/row:")


HARNESS = """
import os, signal, sys
from pathlib import Path
from tests.harness.parts.postgres.shop import shop_template
template = shop_template(Path(sys.argv[1]))
environment = template.open(Path(sys.argv[1], "trial"))
print(environment.parts["postgres:shop"]._server.data, flush=True)
signal.pause()
"""


@pytest.mark.slow
def test_no_server_outlives_a_harness_that_is_killed(tmp_path: Path) -> None:
    """Its keeper ends it and removes its folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HARNESS, tmp_path], stdout=subprocess.PIPE, text=True
    ) as harness:
        assert harness.stdout is not None
        data = Path(harness.stdout.readline().strip())
        postmaster = int((data / "postmaster.pid").read_text().split()[0])
        harness.kill()

    wait_for(lambda: not Path(f"/proc/{postmaster}").exists() and not data.parent.exists())


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something holds; it fails if it does not in half a minute."""
    ends = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)
