-- Results that the model saw, for calls without a result in the trace.
--
-- Reads:
--   steps
-- Needs:
--   steps WHERE kind = 'tool_call' AND result IS NULL
-- Columns:
--   trajectory_id  INTEGER  Trajectory of the call.
--   step_index     INTEGER  Of the call; one row for each trajectory_id and step_index.
--   content        VARCHAR  Content of its first observation; NULL if not captured.
-- Order:
--   none
WITH unreturned AS (
  SELECT
    trajectory_id,
    step_index
  FROM steps
  WHERE
    kind = 'tool_call'
    AND result IS NULL
)

SELECT
  observations.trajectory_id,
  observations.call_step AS step_index,
  arg_min(observations.content, observations.step_index) AS content
FROM steps AS observations
SEMI JOIN unreturned
  ON
    observations.trajectory_id = unreturned.trajectory_id
    AND observations.call_step = unreturned.step_index
WHERE observations.kind = 'observation'
GROUP BY observations.trajectory_id, observations.call_step;
