-- The successful runs of a run's task that are most similar to it, by the calls of each tool.
--
-- Similarity is that of the saved query that compares failed with successful trajectories: calls
-- that both make / calls of both together, by tool.
--
-- Reads:
--   run_index
--   steps
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $rows           BIGINT   Runs at most.
-- Columns:
--   trajectory_id  VARCHAR  One row each, another run of the same agent's same task.
--   likeness       DOUBLE   In [0, 1]; 1 where neither calls a tool.
--   release        VARCHAR  NULL if not sent.
-- Order:
--   likeness DESC, trajectory_id
WITH here AS (
  SELECT
    trajectory_id,
    agent_name,
    task_id
  FROM run_index
  WHERE trajectory_id = $trajectory_id
),

solved AS (
  SELECT
    run_index.trajectory_id,
    run_index.release::VARCHAR AS release
  FROM run_index
  INNER JOIN here
    ON
      run_index.task_id = here.task_id
      AND run_index.agent_name IS NOT DISTINCT FROM here.agent_name
  WHERE run_index.outcome = 'succeeded' AND run_index.trajectory_id != here.trajectory_id
),

calls AS (
  SELECT
    steps.trajectory_id,
    steps.tool_name,
    count(*) AS calls
  FROM steps
  WHERE
    steps.kind = 'tool_call'
    AND steps.trajectory_id IN (
      SELECT solved.trajectory_id FROM solved
      UNION ALL
      SELECT here.trajectory_id FROM here
    )
  GROUP BY steps.trajectory_id, steps.tool_name
),

own AS (
  SELECT
    tool_name,
    calls
  FROM calls
  WHERE trajectory_id = $trajectory_id
),

totals AS (
  SELECT
    solved.trajectory_id,
    solved.release,
    coalesce(sum(calls.calls), 0) AS theirs,
    coalesce(sum(least(calls.calls, own.calls)), 0) AS shared
  FROM solved
  LEFT JOIN calls ON solved.trajectory_id = calls.trajectory_id
  LEFT JOIN own ON calls.tool_name IS NOT DISTINCT FROM own.tool_name
  GROUP BY solved.trajectory_id, solved.release
)

SELECT
  trajectory_id,
  -- The calls that both make and those that either makes add up to the calls of each.
  coalesce(
    shared / nullif(theirs + (SELECT coalesce(sum(own.calls), 0) FROM own) - shared, 0), 1
  )::DOUBLE AS likeness,
  release
FROM totals
ORDER BY likeness DESC, trajectory_id ASC
LIMIT $rows;
