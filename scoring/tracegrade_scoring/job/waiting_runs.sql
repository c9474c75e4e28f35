-- Traces with runs that wait for their root: it, or its end, may still come.
--
-- An attempt waits as a whole, with its sub-agents; others of its trace do not wait for it. None
-- waits once its trace was quiet for so long, or was imported.
-- Source: docs/internals/scoring-job.md.
--
-- Reads:
--   trajectories
-- Parameters:
--   $now_ns    BIGINT  The time, ns since 1970.
--   $quiet_ns  BIGINT  For how long a trace gets nothing until none of its runs waits, ns.
-- Columns:
--   trace_id  VARCHAR    One row each.
--   date      DATE       Date it was first received, UTC.
--   until_ns  BIGINT     When they are scored without it, ns since 1970.
--   runs      VARCHAR[]  The trajectories that wait, sorted.
-- Order:
--   trace_id
WITH RECURSIVE unsettled AS (
  SELECT trace_id
  FROM trajectories
  WHERE
    NOT complete
    AND NOT coalesce(imported, TRUE)
    AND trace_received_ns > $now_ns::BIGINT - $quiet_ns::BIGINT
),

members AS (
  SELECT
    children.trajectory_id AS attempt_id,
    children.trajectory_id,
    children.trace_id,
    children.date,
    children.trace_received_ns,
    children.complete
  FROM trajectories AS children
  SEMI JOIN unsettled USING (trace_id)
  LEFT JOIN trajectories AS parents ON children.parent_trajectory_id = parents.trajectory_id
  WHERE parents.trajectory_id IS NULL
  UNION ALL
  SELECT
    members.attempt_id,
    trajectories.trajectory_id,
    trajectories.trace_id,
    trajectories.date,
    trajectories.trace_received_ns,
    trajectories.complete
  FROM members
  INNER JOIN trajectories ON members.trajectory_id = trajectories.parent_trajectory_id
),

attempts AS (
  SELECT
    trace_id,
    min(date) AS date,
    max(trace_received_ns) + $quiet_ns::BIGINT AS until_ns,
    list(trajectory_id) AS runs
  FROM members
  GROUP BY attempt_id, trace_id
  HAVING NOT bool_and(complete)
)

SELECT
  trace_id,
  min(date) AS date,
  max(until_ns)::BIGINT AS until_ns,
  list_sort(flatten(list(runs))) AS runs
FROM attempts
GROUP BY trace_id
ORDER BY trace_id;
