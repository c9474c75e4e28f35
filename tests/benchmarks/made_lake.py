"""Lakes of any size that look like real ones, written straight into the built tables.

Lengths are skewed (a few runs make sixty calls, most make three), calls fail and are repeated,
arguments have 50 to 1,000 bytes and hardly ever repeat, agents plan and replan, a few loop. Forty
tasks, of which a fifth of the runs must be told by what the user asked. Every value comes from a
hash of the run's number, so the same numbers make the same rows.

Texts are plain words with, here and there, a distinctive token (number, id, date; docs/metrics.md,
section 2.2), as many as in real runs: 200 of tau-bench (airline, gpt-4o), 100 of [AgentRx]
(tau-bench retail) and 400 of WorkBench (email and calendar).

| texts | made | tau-bench | AgentRx | WorkBench |
|---|---|---|---|---|
| results: bytes, mean | 404 | 640 | 838 | 255 |
| share of words that are distinctive | 18 % | 20 % | 25 % | 9 % |
| such words in 1,000 bytes | 23 | 18 | 23 | 11 |
| results of which one is told later, of those with any | 68 % | 87 % | 95 % | 77 % |
| arguments: bytes, mean | 267 | 102 | 58 | 76 |
| share of words that are distinctive | 9 % | 19 % | 28 % | 12 % |
| such words in 1,000 bytes | 15 | 22 | 29 | 14 |
| messages of the agent: share of words | 4-6 % | 3 % | 5 % | none |
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import duckdb
import orjson
import pyarrow as pa
import yaml

from tracegrade_lake import RAW_SPANS, VERDICTS, Lake, StagedFile, Table
from tracegrade_queries.build.last_build import STEPS_NOTED
from tracegrade_queries.engine.connection import connect
from tracegrade_queries.engine.table_views import duckdb_type
from tracegrade_queries.schema import STEPS, STEPS_VERSION, TRAJECTORIES

CHUNK_RUNS: Final = 20_000
"""Runs of one file, as many as a build writes at a time."""

DAYS: Final = 30
FIRST_DAY: Final = date(2026, 10, 1)
TASKS: Final = 40
TOOLS: Final = 25
COLLECTOR: Final = "bench"
WORDS_PER_TOKEN: Final = 25
"""Of so many words of a sentence one is a number, a code or a date."""

_MACROS = f"""
  -- Of a text: hashes of several values at once resemble one another.
  CREATE TEMP MACRO mixed(i, salt) AS hash(i || '/' || salt);
  CREATE TEMP MACRO u(i, salt) AS mixed(i, salt) / 18446744073709551616.0;
  CREATE TEMP MACRO normal(i, salt) AS
    sqrt(-2 * ln(1 - u(i, salt) + 1e-12)) * cos(6.283185307179586 * u(i, salt || '2'));
  CREATE TEMP MACRO skewed(i, salt, middle, spread, most) AS
    least(most, middle * exp(spread * normal(i, salt)))::INTEGER;
  CREATE TEMP MACRO tool_of(task, place) AS 'tool_' || ((task * 7 + place * 3) % {TOOLS});
  CREATE TEMP MACRO expected_calls(task) AS 2 + task % 5;
  CREATE TEMP MACRO day_of(i) AS (DATE '2026-01-01' + (i % 270)::INTEGER)::VARCHAR;
  CREATE TEMP MACRO order_of(i) AS 'o-' || (i % 1000000);
  CREATE TEMP MACRO plain_word(i) AS translate(
    substr(md5((i % 3000)::VARCHAR), 1, 2 + (i % 6)::INTEGER), '0123456789', 'ghijklmnop'
  );
  CREATE TEMP MACRO distinctive_word(i) AS CASE i % 3
    WHEN 0 THEN (100 + i % 9900)::VARCHAR WHEN 1 THEN 'ref' || i % 1000 ELSE day_of(i)
  END;
  CREATE TEMP MACRO word(i) AS if(
    mixed(i, 'kind') % {WORDS_PER_TOKEN} = 0,
    distinctive_word(mixed(i, 'token')),
    plain_word(mixed(i, 'plain'))
  );
  SET VARIABLE texts = (
    SELECT list(text ORDER BY place) FROM (
      SELECT n % 500 AS place, string_agg(word(n), ' ' ORDER BY n) AS text
      FROM range(250000) AS numbers (n) GROUP BY place
    )
  );
  -- Each follows another in a list of JSON.
  SET VARIABLE records = (
    SELECT list(records ORDER BY place) FROM (
      SELECT n % 500 AS place, list(
        ',{{"description":"' || plain_word(mixed(n, 'kind')) || ' ' || plain_word(mixed(n, 'of'))
        || '","order_date":"' || day_of(mixed(n, 'day')) || '","order_id":"'
        || order_of(mixed(n, 'order')) || '","price":' || mixed(n, 'price') % 30000 / 100.0
        || ',"quantity":' || mixed(n, 'quantity') % 90 || ',"status":"'
        || if(mixed(n, 'sent') % 3 = 0, 'pending', 'delivered') || '"}}' ORDER BY n
      ) AS records
      FROM range(10000) AS numbers (n) GROUP BY place
    )
  );
  CREATE TEMP MACRO text_of(i, salt, length) AS
    substr(getvariable('texts')[1 + (mixed(i, salt) % 500)::INTEGER], 1, length);
  CREATE TEMP MACRO records_of(i, salt, count) AS
    array_to_string(getvariable('records')[1 + (mixed(i, salt) % 500)::INTEGER][:count], '');
  CREATE TEMP MACRO answer_of(i, customer) AS
    if(u(i, 'refunds') < 0.6, 'Refunded ', 'Sorry, ') || customer || '. '
    || text_of(i, 'answer', 200);
"""

_RUNS = f"""
  CREATE OR REPLACE TEMP TABLE runs AS
  SELECT
    i,
    i % 50 = 49 AS is_child,
    md5('trace' || if(i % 50 = 49, i - 1, i)) AS trace_id,
    substr(md5('root' || i), 1, 16) AS root_span_id,
    trace_id || '-' || root_span_id AS trajectory_id,
    if(is_child, trace_id || '-' || substr(md5('root' || (i - 1)), 1, 16), NULL) AS parent,
    ({TASKS} * pow(u(if(is_child, i - 1, i), 'task'), 1.5))::INTEGER % {TASKS} AS task,
    1 + (u(i, 'release') * 3)::INTEGER % 3 AS release,
    u(i, 'loop') < 0.01 AS loops,
    if(loops, 6 + (u(i, 'calls') * 20)::INTEGER, 1 + skewed(i, 'calls', 1.5, 0.9, 60)) AS calls,
    u(i, 'plan') < 0.3 AS plans,
    $day::DATE AS date,
    $day::TIMESTAMP + to_microseconds((i % 43000000) * 2000) AS start_time,
    'c-' || (i % 100000) AS customer
  FROM range($first::BIGINT, $last::BIGINT) AS numbers (i)
"""

_CALLS = """
  CREATE OR REPLACE TEMP TABLE made_calls AS
  WITH numbered AS (
    SELECT runs.*, j, mixed(i, j) AS key, u(key, 'fails') < 0.07 AS fails
    FROM runs, unnest(range(calls)) AS numbers (j)
  ),
  placed AS (
    SELECT
      *,
      -- Before the first call there are no rows to count, which is NULL.
      j - coalesce(count_if(fails) OVER (PARTITION BY i ORDER BY j ROWS BETWEEN UNBOUNDED PRECEDING
                                         AND 1 PRECEDING), 0) AS place
    FROM numbered
  ),
  picked AS (
    SELECT
      *,
      CASE
        WHEN loops THEN tool_of(task, 0)
        -- One of these is not offered.
        WHEN u(key, 'wrong') < 0.08 THEN 'tool_' || (mixed(key, 'other') % 26)
        ELSE tool_of(task, place % expected_calls(task))
      END AS tool_name,
      -- Some arguments are those of the call before.
      if(loops, hash(i), if(u(key, 'again') < 0.05 AND j > 0, mixed(i, j - 1), key)) AS about,
      if(loops, hash(i), key) AS told
    FROM placed
  )
  SELECT
    * EXCLUDE (about, told),
    '{"customer":"' || customer || if(
      about % 3 > 0,
      '","filter":{"limit":' || (about % 90 + 10) || ',"since":"' || day_of(about)
      || '","status":"open"}',
      '"'
    )
    || ',"order_id":"' || order_of(about)
    || '","query":"' || text_of(about, 'query', skewed(about, 'length', 120, 0.9, 850)) || '"}'
      AS arguments,
    CASE
      WHEN fails AND u(key, 'said') < 0.5 THEN 'Error: no such order ' || (key % 1000000)
      ELSE '{"items":[{"id":"' || order_of(about) || '","total":' || (told % 9000 / 100.0)
        || '}' || records_of(told, 'records', skewed(told, 'listed', 1, 1.2, 20))
        || '],"next":"' || order_of(lead(about, 1, key) OVER (PARTITION BY i ORDER BY j))
        || '","state":"' || if(u(told, 'state') < 0.8, 'done', 'open') || '","text":"'
        || text_of(told, 'result', skewed(told, 'long', 60, 0.9, 1000)) || '"}'
    END AS result
  FROM picked
"""

_STEPS = """
  WITH plan_rows AS (
    SELECT i, spot, '[' || string_agg(
      '{"id":"p' || place || if(is_other, '-' || spot, '')
      || '","status":"' || if(place < spot, 'completed', 'pending')
      || '","text":"step ' || place || ' '
      || if(i % 2 = 0 AND NOT is_other, tool_of(task, place),
            text_of(mixed(i, place + if(is_other, 100 * spot, 0)), 'plan', 30))
      || '","tool":"' || tool_of(task, place + if(spot > 0 AND place > spot, spot, 0)) || '"}',
      ',' ORDER BY place) || ']' AS plan
    FROM (
      -- Half of the later plans are for other steps, the others tick off what is done.
      SELECT *, spot > 0 AND place >= spot AND hash(i + spot) % 2 = 0 AS is_other
      FROM (
        SELECT i, task, 0 AS spot FROM runs WHERE plans
        UNION ALL
        SELECT i, task, j + 1 FROM made_calls
        WHERE plans AND (u(key, 'replan') < 0.05 OR (fails AND u(key, 'replan') < 0.4))
      ) AS planned, unnest(range(expected_calls(task))) AS places (place)
    ) AS steps_planned
    GROUP BY i, spot
  ),
  parts AS (
    SELECT i, 0.0 AS spot, 'message' AS kind, 'user' AS role, NULL::BIGINT AS j,
           'Please refund order of ' || customer || ' ' || text_of(i, 'asked', 90) AS content,
           NULL AS plan
    FROM runs
    UNION ALL SELECT i, spot + 0.05, 'plan', 'assistant', NULL, NULL, plan FROM plan_rows
    UNION ALL SELECT i, j + 0.1, 'thought', 'assistant', NULL, text_of(key, 'thought', 160), NULL
    FROM made_calls WHERE u(key, 'thinks') < 0.3
    UNION ALL SELECT i, j + 0.2, 'tool_call', 'assistant', j, NULL, NULL FROM made_calls
    UNION ALL SELECT i, j + 0.3, 'observation', 'tool', j, result, NULL FROM made_calls
    UNION ALL SELECT i, 1000.0, 'answer', 'assistant', NULL,
           answer_of(i, customer), NULL
    FROM runs
  ),
  placed AS (
    SELECT *, (row_number() OVER (PARTITION BY i ORDER BY spot) - 1)::INTEGER AS step_index
    FROM parts
  )
  SELECT
    runs.trajectory_id, placed.step_index, 0 AS turn, placed.kind, placed.role,
    'support' AS agent_name, made_calls.tool_name,
    if(placed.j IS NULL, NULL, 'call_' || substr(md5(made_calls.key::VARCHAR), 1, 12))
      AS tool_call_id,
    if(placed.kind = 'tool_call', made_calls.arguments, NULL) AS arguments,
    if(placed.kind = 'tool_call', made_calls.result, NULL) AS result,
    placed.content, placed.plan,
    if(placed.kind = 'observation', placed.step_index - 1, NULL) AS call_step,
    if(placed.kind = 'tool_call', if(made_calls.fails, 'error', 'ok'), NULL) AS status,
    if(placed.kind = 'tool_call', 'span', NULL) AS status_source,
    if(placed.kind = 'tool_call', made_calls.tool_name <> 'tool_25', NULL) AS offered,
    'gpt-5' AS model,
    if(placed.kind IN ('thought', 'tool_call', 'answer'), 900 + mixed(i, step_index) % 4000, NULL)
      AS input_tokens,
    runs.start_time + to_milliseconds(step_index * 700) AS start_time,
    runs.start_time + to_milliseconds(step_index * 700 + 500) AS end_time,
    500.0 AS duration_ms, runs.trace_id,
    substr(md5(mixed(i, step_index)::VARCHAR), 1, 16) AS span_id,
    substr(md5(mixed(i, spot::INTEGER || 'model')::VARCHAR), 1, 16) AS request_span_id,
    runs.root_span_id AS parent_span_id, 'otel_genai' AS dialect, 'span' AS provenance,
    []::VARCHAR[] AS flags, runs.date
  FROM placed
  INNER JOIN runs USING (i)
  LEFT JOIN made_calls ON placed.i = made_calls.i AND placed.j = made_calls.j
  ORDER BY runs.trajectory_id, placed.step_index
"""

_TRAJECTORIES = """
  WITH counts AS (
    SELECT trajectory_id, count(*)::INTEGER AS steps,
           count_if(kind = 'tool_call')::INTEGER AS made,
           count_if(status = 'error')::INTEGER AS failed, max(end_time) AS end_time
    FROM made_steps GROUP BY trajectory_id
  )
  SELECT
    runs.trajectory_id, runs.parent AS parent_trajectory_id,
    if(runs.parent IS NULL, NULL, -1)::INTEGER AS parent_step, runs.trace_id, runs.root_span_id,
    if(is_child, 'helper', 'support') AS agent_name, 'shop' AS service_name,
    '1.' || release AS release, 'production' AS environment, 'k-' || (i // 3) AS conversation_id,
    if(u(i, 'told') < 0.8 AND NOT is_child, 'task-' || task, NULL) AS task_id,
    (i // 40 % 4)::INTEGER AS trial, 'production' AS run_mode,
    'Please refund order of ' || customer || ' for task ' || task || ': '
      || text_of(i, 'asked', 90) AS user_input,
    answer_of(i, customer) AS final_answer,
    CASE WHEN u(i, 'told how') < 0.7 THEN if(u(i, 'good') < 0.6, 'success', 'failure') END
      AS outcome,
    if(outcome IS NULL, NULL, 'trace') AS outcome_source,
    counts.steps AS step_count, counts.made AS tool_call_count, counts.failed AS error_count,
    made + 1 AS llm_call_count, made * 2500 AS input_tokens, made * 150 AS output_tokens,
    [{model: 'gpt-5', calls: made, fresh_input_tokens: made * 2500, cache_read_tokens: 0,
      cache_write_tokens: 0, visible_output_tokens: made * 150, reasoning_tokens: 0,
      stated_usd: NULL}] AS model_usage, runs.start_time, counts.end_time,
    1000.0 * counts.steps AS duration_ms, u(i, 'lost') > 0.002 AS complete,
    $offered AS offered_tools, ['otel_genai'] AS dialects, 1.0 AS sample_weight,
    hash(runs.trajectory_id) % 200 = 0 AS root_failed, '["tool_calls"]' AS finish_reasons,
    FALSE AS interrupted, FALSE AS is_fragment, FALSE AS imported, []::TEXT[] AS flags, runs.date
  FROM runs INNER JOIN counts USING (trajectory_id)
  ORDER BY runs.trajectory_id
"""

_SPANS = """
  CREATE OR REPLACE TEMP TABLE made_spans AS
  SELECT
    trace_id, span_id, NULL AS parent_span_id, '' AS trace_state, 1 AS flags, name, 1 AS kind,
    epoch_ns(start_time) AS start_ns, epoch_ns(end_time) AS end_ns, status_code,
    attributes, repeat('s', len(map_keys(attributes))) AS attribute_types, [] AS events,
    [] AS links,
    'shop' AS service_name, $collector AS collector_id,
    $seq::BIGINT AS wal_seq, $received_ns::BIGINT AS received_ns,
    md5(span_id) AS content_hash, FALSE AS resent, date
  FROM (
    SELECT
      trace_id, span_id, 'execute_tool ' || tool_name AS name, start_time, end_time, date,
      if(status = 'error', 2, 0) AS status_code,
      MAP {'gen_ai.tool.name': tool_name, 'gen_ai.tool.call.arguments': arguments} AS attributes
    FROM made_steps WHERE kind = 'tool_call'
    UNION ALL
    SELECT
      trace_id, request_span_id, 'chat gpt-5', min(start_time), max(end_time), date, 0,
      MAP {'gen_ai.response.finish_reasons': '["tool_calls"]', 'gen_ai.request.model': 'gpt-5'}
    FROM made_steps GROUP BY trace_id, request_span_id, date
    UNION ALL
    SELECT
      trace_id, root_span_id, 'invoke_agent ' || agent_name, start_time, end_time, date,
      if(root_failed, 2, 0), MAP {'gen_ai.agent.name': agent_name}
    FROM made_trajectories
  )
"""

_RECEIVED = """
  SELECT made_trajectories.*, receipts.trace_records, receipts.trace_received_ns
  FROM made_trajectories
  INNER JOIN (
    SELECT trace_id, count(*) AS trace_records, max(received_ns) AS trace_received_ns
    FROM made_spans GROUP BY trace_id
  ) AS receipts USING (trace_id)
  ORDER BY trajectory_id
"""

_LATE = """
  SELECT trace_id, root_span_id, start_time, end_time FROM trajectories
  WHERE date::VARCHAR IN (FROM (SELECT unnest($dates))) AND parent_trajectory_id IS NULL
  ORDER BY trajectory_id LIMIT $runs
"""

_LATE_SPANS = """
  SELECT
    trace_id, substr(md5('late' || trace_id), 1, 16) AS span_id, root_span_id AS parent_span_id,
    '' AS trace_state, 1 AS flags, 'POST' AS name, 3 AS kind, epoch_ns(start_time) AS start_ns,
    epoch_ns(end_time) AS end_ns, 0 AS status_code, MAP {'http.request.method': 'POST'}
      AS attributes,
    's' AS attribute_types, [] AS events, [] AS links, 'shop' AS service_name,
    $collector AS collector_id, $seq::BIGINT AS wal_seq, $received_ns::BIGINT AS received_ns,
    md5(trace_id) AS content_hash, FALSE AS resent,
    make_timestamp_ns($received_ns::BIGINT)::DATE AS date
  FROM late
"""

_LATE_RUNS = """
  SELECT trajectories.* REPLACE (
    trace_records + (late.trace_id IS NOT NULL)::BIGINT AS trace_records,
    if(late.trace_id IS NULL, trace_received_ns, $received_ns::BIGINT) AS trace_received_ns
  )
  FROM trajectories LEFT JOIN late USING (trace_id)
  WHERE date::VARCHAR IN (FROM (SELECT unnest($dates)))
  ORDER BY trajectory_id
"""

_VERDICTS = """
  SELECT trajectory_id, 'success' AS subject, (hash(i) % 2)::DOUBLE AS value, 'verifier' AS source,
         date
  FROM runs WHERE u(i, 'verdict') < 0.05 AND NOT is_child ORDER BY trajectory_id
"""


def task_file() -> str:
    """Return the file of the forty tasks and their tools, as YAML."""
    tools = {f"tool_{n}": {"effect": _effect(n), "cost": 1 + n % 4} for n in range(TOOLS)}
    tools["tool_3"]["alternatives"] = ["tool_4"]
    return yaml.safe_dump(
        {"version": 1, "tools": tools, "tasks": {f"task-{n}": _task(n) for n in range(TASKS)}}
    )


def _effect(tool: int) -> str:
    return "destructive" if tool % 10 == 0 else "write" if tool % 5 == 0 else "read"


def _task(task: int) -> dict[str, Any]:
    names = [f"tool_{(task * 7 + place * 3) % TOOLS}" for place in range(2 + task % 5)]
    first = {"customer": {"input": "customer"}}
    return {
        "category": f"category-{task % 6}",
        "match": {"user_input": rf"(?P<customer>c-\d+) for task {task}:"},
        "expected": [
            {"tool": name, **({"arguments": first} if place == 0 else {})}
            for place, name in enumerate(names)
        ],
        "sub_goals": {
            f"goal-{place}": {
                "serves": [name],
                "critical": place == 0,
                **({"deps": [f"goal-{place - 1}"]} if place else {}),
            }
            for place, name in enumerate(dict.fromkeys(names))
        },
        **({"success": _success(task)} if task % 2 else {}),
    }


def _success(task: int) -> dict[str, Any]:
    if task % 10 == 1:
        return {"sql": "count_if(kind = 'tool_call' AND status = 'error') = 0"}
    return {"answer": "^Refunded", **({"state": {"$.state": "done"}} if task % 3 else {})}


def _offered() -> str:
    schema = {
        "type": "object",
        "required": ["customer"],
        "properties": {
            "customer": {"type": "string", "description": "Id of the customer, like c-17."},
            "filter": {"type": "object", "properties": {"limit": {"type": "integer"}}},
            "order_id": {"type": "string"},
            "query": {"type": "string", "description": "What to look for, in plain words."},
        },
    }
    tools = [
        {"name": f"tool_{n}", "description": f"Does number {n}.", "parameters": schema}
        for n in range(TOOLS)
    ]
    return orjson.dumps(tools).decode()


class Maker:
    """Writes runs into a lake, as builds of the collector's rows would have."""

    def __init__(self, lake: Lake) -> None:
        """Make ready to write runs into the lake."""
        self._lake = lake
        self._seq = (lake.transaction_version("trajectories", f"built/{COLLECTOR}") or 0) + 1
        self._con = duckdb.connect(config={"temp_directory": str(lake.state / "_spill")})
        self._con.execute(_MACROS)

    def add(self, first: int, last: int, day: int) -> None:
        """Add the runs with these numbers, begun and received on one day, counted from 0."""
        staged: dict[str, list[StagedFile]] = {}
        for start in range(first, last, CHUNK_RUNS):
            self._make(start, min(start + CHUNK_RUNS, last), day)
            for table, rows in self._tables():
                files = self._lake.stage(table, rows, uuid.uuid4().hex)
                staged.setdefault(table.name, []).extend(files)
        self._commit(staged)

    def delay(self, runs: int, days: Sequence[int]) -> None:
        """Let one more span of so many runs of these days come in late, by itself no step."""
        dates = [_date(day) for day in days]
        received = self._received(max(days) + 1)
        with connect(self._lake) as lake:
            late = lake.sql(_LATE, params={"dates": dates, "runs": runs}).to_arrow_table()
            lake.register("late", late)
            given = {"dates": dates, "received_ns": received["received_ns"]}
            runs_of_dates = lake.sql(_LATE_RUNS, params=given).to_arrow_table()
        self._con.register("late", late)
        self._con.register("runs_of_dates", runs_of_dates)
        staged = {
            table.name: self._lake.stage(table, rows, uuid.uuid4().hex)
            for table, rows in (
                (RAW_SPANS, self._typed(RAW_SPANS, _LATE_SPANS, received)),
                (TRAJECTORIES, self._typed(TRAJECTORIES, "FROM runs_of_dates")),
            )
        }
        self._commit(staged, dates)

    def _make(self, first: int, last: int, day: int) -> None:
        self._con.execute(_RUNS, {"first": first, "last": last, "day": _date(day)})
        self._con.execute(_CALLS)
        self._con.execute(f"CREATE OR REPLACE TEMP TABLE made_steps AS {_STEPS}")
        self._con.execute(
            f"CREATE OR REPLACE TEMP TABLE made_trajectories AS {_TRAJECTORIES}",
            {"offered": _offered()},
        )
        self._con.execute(_SPANS, self._received(day))

    def _tables(self) -> Iterator[tuple[Table, pa.Table]]:
        """Yield each table with the rows of the runs made last."""
        yield RAW_SPANS, self._typed(RAW_SPANS, "FROM made_spans")
        yield VERDICTS, self._typed(VERDICTS, _VERDICTS)
        yield STEPS, self._typed(STEPS, "FROM made_steps")
        yield TRAJECTORIES, self._typed(TRAJECTORIES, _RECEIVED)

    def _received(self, day: int) -> dict[str, Any]:
        """Return who received the next request, its number, and when."""
        self._seq += 1
        noon_ns = int(datetime.fromisoformat(f"{_date(day)}T12:00:00Z").timestamp()) * 10**9
        return {"collector": COLLECTOR, "seq": self._seq, "received_ns": noon_ns + self._seq}

    def _typed(self, table: Table, sql: str, parameters: dict[str, Any] | None = None) -> pa.Table:
        """Return the rows with all declared columns, NULL where the query has none."""
        found = self._con.sql(sql, params=parameters)
        columns = ", ".join(
            f"{c.name if c.name in found.columns else 'NULL'}::{duckdb_type(c.type)} AS {c.name}"
            for c in table.columns
        )
        return found.select(columns).to_arrow_table().cast(table.arrow())

    def _commit(self, staged: Mapping[str, list[StagedFile]], dates: Sequence[str] = ()) -> None:
        """Commit the files; with the last table, that a build has seen all there is.

        The trajectories of the dates are replaced.
        """
        for table in (RAW_SPANS, VERDICTS, STEPS, TRAJECTORIES):
            last = table is TRAJECTORIES
            noted = {f"built/{COLLECTOR}": self._seq, STEPS_NOTED: STEPS_VERSION} if last else {}
            self._lake.put_files(table, staged.get(table.name, []), dates if last else [], noted)


def _date(day: int) -> str:
    return str(FIRST_DAY + timedelta(day))


def make(place: Path, runs: int, days: int = DAYS) -> Lake:
    """Return a new lake with so many runs, spread evenly over the days."""
    maker = Maker(lake := Lake.create(place))
    for day in range(days):
        maker.add(day * runs // days, (day + 1) * runs // days, day)
    return lake
