-- Error messages of failed tool calls, most frequent first; numbers and quotes are masked.
--
-- A call's status decides whether it failed; a result that reports an error sets the status. The
-- scoring package's queries about failed calls also count results that match a task file's
-- error_pattern.
--
-- Reads:
--   steps
-- Columns:
--   tool_name     VARCHAR    One row for each tool_name and message.
--   message       VARCHAR    First line of the error, else of the result; 9 for each number.
--   calls         BIGINT     Calls that failed with this message; at least 1.
--   trajectories  BIGINT     Trajectories that contain these calls.
--   last_seen     TIMESTAMP  Start of the last such call, UTC; NULL if its source has no times.
--   example       VARCHAR    The first trajectory by id that has such a call.
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
