-- Conversations of several runs: the number of user turns that became trajectories of their own.
--
-- Reads:
--   trajectories
-- Columns:
--   conversation_id  VARCHAR    One row for each conversation_id with at least 2 runs.
--   agent_names      VARCHAR[]  Named agents, sorted.
--   runs             BIGINT     Root trajectories; at least 2.
--   steps            BIGINT     Steps of all these runs.
--   errors           BIGINT     Calls whose status is error or not_executed.
--   first_start      TIMESTAMP  UTC; NULL if an import made the times up.
--   secs             DOUBLE     First start to last end; NULL if an import made the times up.
--   first_input      VARCHAR    First 80 characters of the first request; NULL if unknown.
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
  -- Times that an import makes up begin with the year 2000.
  CASE WHEN min(start_time) >= '2001-01-01' THEN min(start_time) END AS first_start,
  (epoch_us(max(end_time)) - epoch_us(first_start)) / 1e6 AS secs,
  left(arg_min(user_input, (start_time, trajectory_id)), 80) AS first_input
FROM trajectories
WHERE conversation_id IS NOT NULL AND parent_trajectory_id IS NULL
GROUP BY conversation_id
HAVING count(*) > 1
ORDER BY runs DESC, conversation_id ASC;
