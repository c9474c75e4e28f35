-- The runs of a conversation in order: its turns.
--
-- Reads:
--   run_index
--   trajectories
-- Parameters:
--   $conversation_id  VARCHAR  The conversation.
--   $rows             BIGINT   Runs at most.
--   $before           BIGINT   Runs that are left out before them.
-- Columns:
--   trajectory_id  VARCHAR    One row each.
--   agent_name     VARCHAR    NULL if none is named.
--   release        VARCHAR    NULL if not sent.
--   start_time     TIMESTAMP  UTC; NULL if not known.
--   outcome        VARCHAR    succeeded | failed; NULL if not known.
--   step_count     INTEGER    Steps of every kind.
--   turn_count     INTEGER    Turns; at least 1.
--   user_input     VARCHAR    First 2,000 characters of what the user asked; NULL if unknown.
--   final_answer   VARCHAR    First 2,000 characters of the answer; NULL if there is none.
--   total          BIGINT     Runs of the conversation.
-- Order:
--   start_time, trajectory_id
WITH runs AS (
  SELECT *
  FROM run_index
  WHERE conversation_id = $conversation_id AND parent_trajectory_id IS NULL
)

SELECT
  runs.trajectory_id,
  runs.agent_name::VARCHAR AS agent_name,
  runs.release::VARCHAR AS release,
  runs.start_time,
  runs.outcome::VARCHAR AS outcome,
  runs.step_count,
  coalesce(trajectories.turn_count, 1)::INTEGER AS turn_count,
  left(trajectories.user_input, 2000) AS user_input,
  left(trajectories.final_answer, 2000) AS final_answer,
  count(*) OVER () AS total
FROM runs
INNER JOIN trajectories
  ON runs.trajectory_id = trajectories.trajectory_id AND runs.date = trajectories.date
ORDER BY runs.start_time, runs.trajectory_id
LIMIT $rows OFFSET $before;
