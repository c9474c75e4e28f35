-- The run of each known operation.
--
-- An operation under no agent belongs to the run in whose time it starts: its parents were lost,
-- or another instrumentation did not make its spans current. Outside any run's time it belongs to
-- the only run of its trace if a parent was lost. A model call that is a sibling of agents, below
-- one span, belongs to the last run before it, else to the first. Other operations belong to no
-- run. If the trace has no outermost agent, its operations are one run without a root, which
-- called the agents in it.
--
-- Reads:
--   bucket_spans
--   operations
--   known_parents
--   run_starts
--   run_parent_ends
-- Columns:
--   key            BIGINT   Known operation; one row each. Those outside of any run have none.
--   run            BIGINT   Key of the run's agent; without one, of the run's first operation.
--   outside_agent  BOOLEAN  It was done before the agent's span began, or after it ended.
-- Order:
--   none
WITH roots AS (
  SELECT run_starts.*
  FROM run_starts
  ANTI JOIN run_parent_ends USING (key)
),

placed AS (
  SELECT
    known_parents.key,
    coalesce(run_parent_ends.last, known_parents.key) AS last
  FROM known_parents
  LEFT JOIN run_parent_ends USING (key)
),

inside AS (
  SELECT
    placed.key,
    roots.key AS run
  FROM placed
  INNER JOIN roots ON placed.last = roots.key
),

strays AS (
  SELECT
    placed.key,
    operations.trace_id,
    operations.start_ns,
    operations.operation,
    coalesce(known_parents.top, operations.key) AS top,
    tops.parent_span_id IS NOT NULL AS lost_a_parent
  FROM placed
  ANTI JOIN inside USING (key)
  INNER JOIN operations USING (key)
  LEFT JOIN known_parents ON placed.last = known_parents.key
  LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
),

outermost AS (
  SELECT
    roots.*,
    known_parents.top
  FROM roots
  INNER JOIN known_parents USING (key)
  WHERE roots.caller IS NULL
),

-- Runs of one trace rarely overlap; if they do, the operation belongs to the one that started
-- last.
adopted AS (
  SELECT
    strays.key,
    outermost.key AS run
  FROM strays
  ASOF JOIN outermost
    ON strays.trace_id = outermost.trace_id AND strays.start_ns >= outermost.start_ns
  WHERE strays.start_ns <= outermost.end_ns
),

only_runs AS (
  SELECT
    trace_id,
    any_value(key) AS run
  FROM outermost
  GROUP BY trace_id
  HAVING count(*) = 1
),

returned AS (
  SELECT
    strays.key,
    only_runs.run
  FROM strays
  INNER JOIN only_runs USING (trace_id)
  ANTI JOIN adopted ON strays.key = adopted.key
  WHERE strays.lost_a_parent
),

companions AS (
  SELECT strays.*
  FROM strays
  ANTI JOIN adopted ON strays.key = adopted.key
  ANTI JOIN returned ON strays.key = returned.key
  WHERE strays.operation = 'model'
),

after AS (
  SELECT
    companions.key,
    outermost.key AS run
  FROM companions
  ASOF JOIN outermost
    ON companions.top = outermost.top AND companions.start_ns >= outermost.start_ns
),

before AS (
  SELECT
    companions.key,
    arg_min(outermost.key, (outermost.start_ns, outermost.span_id)) AS run
  FROM companions
  INNER JOIN outermost USING (top)
  ANTI JOIN after ON companions.key = after.key
  GROUP BY companions.key
),

rootless AS (
  SELECT
    strays.key,
    min(strays.key) OVER (PARTITION BY strays.trace_id) AS run
  FROM strays
  ANTI JOIN outermost USING (trace_id)
)

SELECT
  *,
  FALSE AS outside_agent
FROM inside
UNION ALL
SELECT
  *,
  FALSE AS outside_agent
FROM adopted
UNION ALL
SELECT
  *,
  FALSE AS outside_agent
FROM returned
UNION ALL
SELECT
  *,
  TRUE AS outside_agent
FROM after
UNION ALL
SELECT
  *,
  TRUE AS outside_agent
FROM before
UNION ALL
SELECT
  *,
  FALSE AS outside_agent
FROM rootless;
