-- Messages of failed calls, most frequent first, including calls that only an error_pattern finds.
--
-- Like error_messages, for the failed calls of scored attempts. Numbers and quoted names count as
-- equal.
--
-- Reads:
--   failed_calls
--   steps
-- Columns:
--   tool_name  VARCHAR  NULL if the spans name none. One row for each of the first four.
--   release    VARCHAR  NULL if not sent.
--   failed_by  VARCHAR  status | result | error_pattern.
--   message    VARCHAR  First line of the error, else of the result; 9 for each number.
--   failures   BIGINT   Failed calls; at least 1.
--   runs       BIGINT   Attempts with these calls.
--   recovered  BIGINT   A later call with another argument, or another tool, did it.
--   retried    BIGINT   The same call went well later, and no other did it.
--   example    VARCHAR  One of the attempts, the first by id.
-- Order:
--   failures DESC, tool_name, release, failed_by, message
WITH failures AS (
  SELECT
    failed_calls.trajectory_id,
    failed_calls.tool_name,
    failed_calls.release,
    failed_calls.failed_by,
    failed_calls.outcome,
    left(
      split_part(coalesce(steps.error_message, steps.result, steps.status), chr(10), 1), 200
    ) AS first_line
  FROM failed_calls
  INNER JOIN steps
    ON
      failed_calls.step_trajectory_id = steps.trajectory_id
      AND failed_calls.step_index = steps.step_index
)

SELECT
  tool_name,
  release,
  failed_by,
  regexp_replace(
    regexp_replace(first_line, '''[^'']*''|"[^"]*"', '''…''', 'g'), '\d+', '9', 'g'
  ) AS message,
  count(*) AS failures,
  count(DISTINCT trajectory_id) AS runs,
  count(*) FILTER (WHERE outcome = 'recovered') AS recovered,
  count(*) FILTER (WHERE outcome = 'retried') AS retried,
  min(trajectory_id) AS example
FROM failures
GROUP BY tool_name, release, failed_by, message
ORDER BY failures DESC, tool_name ASC, release ASC, failed_by ASC, message ASC;
