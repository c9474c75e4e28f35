-- Conversations of several runs: how many turns of a user became trajectories of their own.
--
-- Reads:
--   trajectories
-- Columns:
--   conversation_id  VARCHAR    One row for each conversation_id with at least 2 runs.
--   agent_names      VARCHAR[]  Named agents, sorted.
--   runs             BIGINT     Root trajectories; at least 2.
--   steps            BIGINT     Of all of them.
--   errors           BIGINT     Calls whose status is error or not_executed.
--   first_start      TIMESTAMP  UTC; NULL if an import made the times up.
--   secs             DOUBLE     From the first start to the last end; NULL likewise.
--   first_input      VARCHAR    First 80 characters of what was asked first; NULL if unknown.
-- Order:
--   runs DESC, conversation_id
SELECT
  conversation_id,
  coalesce(
    list(DISTINCT agent_name ORDER BY agent_name) FILTER (WHERE agent_name IS NOT NULL), []
  ) AS agent_names,
  count(*) AS runs,
  sum(step_count)::BIGINT AS steps,
  sum(error_count)::BIGINT AS errors,
  -- What an import makes up begins with the year 2000.
  CASE WHEN min(start_time) >= '2001-01-01' THEN min(start_time) END AS first_start,
  (epoch_us(max(end_time)) - epoch_us(first_start)) / 1e6 AS secs,
  left(arg_min(user_input, (start_time, trajectory_id)), 80) AS first_input
FROM trajectories
WHERE conversation_id IS NOT NULL AND parent_trajectory_id IS NULL
GROUP BY conversation_id
HAVING count(*) > 1
ORDER BY runs DESC, conversation_id ASC;
