-- What tools say when they fail, most frequent first; numbers and quoted names count as equal.
--
-- A call failed by its status, which results that say so set, too; what the error_pattern of
-- a task file finds besides is counted by the queries about failed calls that scoring brings.
--
-- Reads:
--   steps
-- Columns:
--   tool_name     VARCHAR    One row for each tool_name and message.
--   message       VARCHAR    First line of the error, else of the result; 9 for each number.
--   calls         BIGINT     That failed so; at least 1.
--   trajectories  BIGINT     In which they stand.
--   last_seen     TIMESTAMP  Start of the last, UTC; NULL if its source has no times.
--   example       VARCHAR    A trajectory with it, the first by id.
-- Order:
--   calls DESC, tool_name, message
WITH failures AS (
  SELECT
    trajectory_id,
    tool_name,
    CASE WHEN NOT coalesce(list_contains(flags, 'synthetic_time'), FALSE) THEN start_time END
      AS start_time,
    regexp_replace(
      regexp_replace(
        left(split_part(coalesce(error_message, result, status), chr(10), 1), 200),
        '''[^'']*''|"[^"]*"', '''…''', 'g'
      ),
      '\d+', '9', 'g'
    ) AS message
  FROM steps
  WHERE kind = 'tool_call' AND status IN ('error', 'not_executed')
)

SELECT
  tool_name,
  message,
  count(*) AS calls,
  count(DISTINCT trajectory_id) AS trajectories,
  max(start_time) AS last_seen,
  min(trajectory_id) AS example
FROM failures
GROUP BY tool_name, message
ORDER BY calls DESC, tool_name ASC, message ASC;
