-- The run that each known operation belongs to.
--
-- What stands under no agent belongs to the run in whose time it starts: its parents were lost, or
-- another instrumentation did not make its spans current. Outside of any run's time it belongs to
-- the only run of its trace if a parent was lost, else to none. If the trace has no agent at all,
-- its operations are one run without a root.
--
-- Reads:
--   bucket_spans
--   operations
--   known_parents
--   run_agents
--   run_ends
-- Columns:
--   key  BIGINT  Known operation; one row each. Those outside of any run have none.
--   run  BIGINT  Key of the run's agent; in a trace without agents, of the run's first operation.
-- Order:
--   none
WITH roots AS (
  SELECT run_agents.*
  FROM run_agents
  ANTI JOIN run_ends USING (key)
),

placed AS (
  SELECT
    known_parents.key,
    coalesce(run_ends.last, known_parents.key) AS last
  FROM known_parents
  LEFT JOIN run_ends USING (key)
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
    tops.parent_span_id IS NOT NULL AS lost_a_parent
  FROM placed
  ANTI JOIN inside USING (key)
  INNER JOIN operations USING (key)
  LEFT JOIN known_parents ON placed.last = known_parents.key
  LEFT JOIN bucket_spans AS tops ON known_parents.top = tops.key
),

outermost AS (
  SELECT *
  FROM roots
  WHERE caller IS NULL
),

-- Runs of one trace rarely overlap; if they do, the one that started last takes the stray.
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

rootless AS (
  SELECT
    strays.key,
    min(strays.key) OVER (PARTITION BY strays.trace_id) AS run
  FROM strays
  ANTI JOIN run_agents USING (trace_id)
)

SELECT * FROM inside
UNION ALL
SELECT * FROM adopted
UNION ALL
SELECT * FROM returned
UNION ALL
SELECT * FROM rootless;
