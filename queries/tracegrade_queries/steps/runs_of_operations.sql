-- The run that each known operation belongs to.
--
-- What stands under no agent belongs to the run in whose time it starts, if its own parents are
-- missing or lead to a tool that another instrumentation recorded; if the trace has no agent at
-- all, its operations are one run without a root.
--
-- Reads:
--   operations
--   known_parents
--   run_agents
--   run_ends
-- Columns:
--   key            BIGINT   Known operation; one row each. Those outside of any run have none.
--   trajectory_id  VARCHAR
--   root           BIGINT   Key of the run's agent; NULL for a trace without agents.
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
    operations.trace_id,
    operations.operation,
    operations.start_ns,
    coalesce(run_ends.last, known_parents.key) AS last
  FROM known_parents
  INNER JOIN operations USING (key)
  LEFT JOIN run_ends USING (key)
),

inside AS (
  SELECT
    placed.key,
    roots.key AS root
  FROM placed
  INNER JOIN roots ON placed.last = roots.key
),

strays AS (
  SELECT
    placed.key,
    placed.trace_id,
    placed.start_ns
  FROM placed
  ANTI JOIN inside USING (key)
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
    outermost.key AS root
  FROM strays
  ASOF JOIN outermost
    ON strays.trace_id = outermost.trace_id AND strays.start_ns >= outermost.start_ns
  WHERE strays.start_ns <= outermost.end_ns
),

rootless AS (
  SELECT
    strays.key,
    NULL::BIGINT AS root
  FROM strays
  ANTI JOIN run_agents USING (trace_id)
),

members AS (
  SELECT * FROM inside
  UNION ALL
  SELECT * FROM adopted
  UNION ALL
  SELECT * FROM rootless
)

SELECT
  members.key,
  operations.trace_id || '-' || coalesce(root_spans.span_id, '0000000000000000') AS trajectory_id,
  members.root
FROM members
INNER JOIN operations USING (key)
LEFT JOIN operations AS root_spans ON members.root = root_spans.key;
