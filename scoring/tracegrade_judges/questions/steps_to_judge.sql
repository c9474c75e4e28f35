-- Steps of some runs, as a judge reads them.
--
-- Reads:
--   steps
-- Parameters:
--   $trajectory_ids  VARCHAR[]  The runs.
-- Columns:
--   trajectory_id  VARCHAR  One row for each step.
--   step_index     INTEGER
--   turn           INTEGER
--   kind           VARCHAR
--   role           VARCHAR
--   tool_name      VARCHAR
--   arguments      VARCHAR
--   result         VARCHAR
--   content        VARCHAR
--   plan           VARCHAR
--   sub_goal       VARCHAR
--   status         VARCHAR
--   error_message  VARCHAR
--   model          VARCHAR
-- Order:
--   trajectory_id, step_index
SELECT
  trajectory_id,
  step_index,
  turn,
  kind,
  role,
  tool_name,
  arguments,
  result,
  content,
  plan,
  sub_goal,
  status,
  error_message,
  model
FROM steps
WHERE list_contains($trajectory_ids, trajectory_id)
ORDER BY trajectory_id, step_index;
