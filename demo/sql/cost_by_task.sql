-- What did the tools of the file agent's releases cost, per run of each task?
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   task_id   VARCHAR  One row each.
--   cost_1_0  DOUBLE   Tool costs of one run of release 1.0, mean over its runs; NULL without one.
--   cost_1_1  DOUBLE   The same of release 1.1.
--   cost_1_2  DOUBLE   The same of release 1.2.
-- Order:
--   task_id
WITH runs AS (
  SELECT
    trajectories.task_id,
    trajectories.release,
    sum(steps.cost) AS cost
  FROM trajectories
  INNER JOIN steps ON trajectories.trajectory_id = steps.trajectory_id
  WHERE
    trajectories.agent_name = 'file-agent'
    AND trajectories.kill_point IS NULL
    AND steps.kind = 'tool_call'
  GROUP BY
    trajectories.trajectory_id,
    trajectories.task_id,
    trajectories.release
)

SELECT
  task_id,
  avg(cost) FILTER (WHERE release = '1.0') AS cost_1_0,
  avg(cost) FILTER (WHERE release = '1.1') AS cost_1_1,
  avg(cost) FILTER (WHERE release = '1.2') AS cost_1_2
FROM runs
GROUP BY task_id
ORDER BY task_id;
