-- The sequences of tools in a task's runs, the most frequent first.
--
-- Runs that were killed on purpose or replaced by a later run of the same trial are left out.
--
-- Reads:
--   run_index
--   steps
-- Parameters:
--   $task_id  VARCHAR  The task.
--   $rows     BIGINT   Sequences at most.
-- Columns:
--   shape      VARCHAR  The tools in order, `!` behind one whose call failed; '' without a call.
--   runs       BIGINT   At least 1.
--   succeeded  BIGINT   Successful runs.
--   known      BIGINT   Runs with a known outcome.
--   example    VARCHAR  The least id of these.
--   shapes     BIGINT   Different sequences that there are.
-- Order:
--   runs DESC, shape
WITH runs AS (
  SELECT
    trajectory_id,
    outcome::VARCHAR AS outcome
  FROM run_index
  WHERE task_id = $task_id AND parent_trajectory_id IS NULL AND NOT killed AND NOT superseded
),

shaped AS (
  SELECT
    runs.trajectory_id,
    runs.outcome,
    coalesce(
      string_agg(
        coalesce(steps.tool_name, '?') || if(steps.status IN ('error', 'not_executed'), '!', ''),
        ' ' ORDER BY steps.step_index
      ),
      ''
    ) AS shape
  FROM runs
  LEFT JOIN steps ON runs.trajectory_id = steps.trajectory_id AND steps.kind = 'tool_call'
  GROUP BY runs.trajectory_id, runs.outcome
)

SELECT
  shape,
  count(*) AS runs,
  count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded,
  count(outcome) AS known,
  min(trajectory_id) AS example,
  count(*) OVER () AS shapes
FROM shaped
GROUP BY shape
ORDER BY runs DESC, shape ASC
LIMIT $rows;
