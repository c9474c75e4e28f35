-- The ways in which runs of each task succeeded, the most common first, for task files to expect.
--
-- A path is the tools of the calls of a run that did not fail, in order. A run succeeded if its
-- scores say so, or, where it has none, its own trace.
--
-- Reads:
--   steps
--   trajectories
--   trajectory_scores
-- Parameters:
--   $agent_name  VARCHAR  Only runs of this agent; NULL for all.
-- Columns:
--   agent_name   VARCHAR    NULL if none is named.
--   task_id      VARCHAR    As scored, else as told by a span; NULL if not known.
--   path         VARCHAR[]  One row for each of the three.
--   runs         BIGINT     Runs that succeeded in this way.
--   all_runs     BIGINT     Runs of the task that succeeded.
--   place        BIGINT     Of the path among those of its task, from 1: most runs first.
--   least_calls  BIGINT     The fewest calls, failed ones too, of any of these.
-- Order:
--   agent_name, task_id, place
WITH successes AS (
  SELECT
    trajectories.trajectory_id,
    trajectories.agent_name,
    coalesce(trajectory_scores.task_id, trajectories.task_id) AS task_id,
    trajectories.tool_call_count AS calls
  FROM trajectories
  LEFT JOIN trajectory_scores USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND coalesce(trajectory_scores.success.value = 1, trajectories.outcome = 'success')
),

walks AS (
  SELECT
    successes.trajectory_id,
    successes.agent_name,
    successes.task_id,
    successes.calls,
    coalesce(
      list(steps.tool_name ORDER BY steps.step_index) FILTER (WHERE steps.tool_name IS NOT NULL),
      []
    ) AS path
  FROM successes
  LEFT JOIN steps
    ON
      successes.trajectory_id = steps.trajectory_id
      AND steps.kind = 'tool_call'
      AND steps.status NOT IN ('error', 'not_executed')
  GROUP BY ALL
),

chosen AS (
  SELECT
    agent_name,
    task_id,
    path,
    calls
  FROM walks
  WHERE
    $agent_name::VARCHAR IS NULL
    OR agent_name = $agent_name::VARCHAR
),

paths AS (
  SELECT
    agent_name,
    task_id,
    path,
    count(*) AS runs,
    min(calls) AS least_calls
  FROM chosen
  GROUP BY agent_name, task_id, path
)

SELECT
  agent_name,
  task_id,
  path,
  runs,
  (sum(runs) OVER of_task)::BIGINT AS all_runs,
  row_number() OVER (PARTITION BY agent_name, task_id ORDER BY runs DESC, path ASC) AS place,
  (min(least_calls) OVER of_task)::BIGINT AS least_calls
FROM paths
WINDOW of_task AS (PARTITION BY agent_name, task_id)
ORDER BY agent_name, task_id, place;
