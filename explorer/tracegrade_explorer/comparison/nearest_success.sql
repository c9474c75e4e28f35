-- The successful runs of a run's task that are most similar to it, by the calls of each tool.
--
-- Similarity is that of the saved query that compares failed with successful trajectories: calls
-- that both make / calls of both together, by tool.
--
-- Reads:
--   call_counts
--   run_index
-- Parameters:
--   $seq   INTEGER  Place of the run in the index.
--   $rows  BIGINT   Runs at most.
-- Columns:
--   trajectory_id  VARCHAR  One row each, another run of the same agent's same task.
--   date           DATE     Date its trace was first received, UTC.
--   likeness       DOUBLE   In [0, 1]; 1 where neither calls a tool.
--   release        VARCHAR  NULL if not sent.
-- Order:
--   likeness DESC, trajectory_id
WITH here AS (
  SELECT
    seq,
    agent_name,
    task_id
  FROM run_index
  WHERE seq = $seq
),

solved AS (
  SELECT
    run_index.seq,
    run_index.trajectory_id,
    run_index.date,
    run_index.release::VARCHAR AS release
  FROM run_index
  INNER JOIN here
    ON
      run_index.task_id = here.task_id
      AND run_index.agent_name IS NOT DISTINCT FROM here.agent_name
  WHERE run_index.outcome = 'succeeded' AND run_index.seq != here.seq
),

own AS (
  SELECT
    tool_name,
    calls
  FROM call_counts
  WHERE seq = $seq
),

totals AS (
  SELECT
    solved.trajectory_id,
    solved.date,
    solved.release,
    coalesce(sum(call_counts.calls), 0) AS theirs,
    -- `least` leaves NULL out, so it would count calls of a tool that only one run calls.
    coalesce(
      sum(least(call_counts.calls, own.calls)) FILTER (
        WHERE call_counts.calls IS NOT NULL AND own.calls IS NOT NULL
      ),
      0
    ) AS shared
  FROM solved
  LEFT JOIN call_counts ON solved.seq = call_counts.seq
  LEFT JOIN own ON call_counts.tool_name IS NOT DISTINCT FROM own.tool_name
  GROUP BY solved.trajectory_id, solved.date, solved.release
)

SELECT
  trajectory_id,
  date,
  -- The calls that both make and those that either makes add up to the calls of each.
  coalesce(
    shared / nullif(theirs + (SELECT coalesce(sum(own.calls), 0) FROM own) - shared, 0), 1
  )::DOUBLE AS likeness,
  release
FROM totals
ORDER BY likeness DESC, trajectory_id ASC
LIMIT $rows;
