-- Success of calling a tool again after it failed, with the same arguments or with others.
--
-- A call's status decides whether it failed; a result that reports an error sets the status. The
-- scoring package's queries about failed calls also count results that match a task file's
-- error_pattern.
--
-- Reads:
--   steps
-- Columns:
--   tool_name       VARCHAR  One row for each tool_name and same_arguments.
--   same_arguments  BOOLEAN  The tool's next call had the same arguments; NULL if some were not
--                            captured.
--   retries         BIGINT   Failed calls whose trajectory called the tool again; at least 1.
--   succeeded       BIGINT   Retries in which the tool's next call succeeded.
--   success_share   DOUBLE   succeeded / retries, in [0, 1].
--   median_gap_ms   DOUBLE   From the end of the failed call to the start of the next; NULL if not
--                            timed.
-- Order:
--   retries DESC, tool_name, same_arguments
WITH calls AS (
  SELECT
    tool_name,
    status,
    arguments,
    CASE WHEN NOT coalesce(list_contains(flags, 'synthetic_time'), FALSE) THEN end_time END
      AS end_time,
    lead(status) OVER next_calls AS next_status,
    lead(arguments) OVER next_calls AS next_arguments,
    lead(start_time) OVER next_calls AS next_start_time
  FROM steps
  WHERE kind = 'tool_call'
  WINDOW next_calls AS (PARTITION BY trajectory_id, tool_name ORDER BY step_index)
)

SELECT
  tool_name,
  next_arguments = arguments AS same_arguments,
  count(*) AS retries,
  count(*) FILTER (WHERE next_status = 'ok') AS succeeded,
  succeeded / retries AS success_share,
  median(epoch_us(next_start_time) - epoch_us(end_time)) / 1000 AS median_gap_ms
FROM calls
WHERE status IN ('error', 'not_executed') AND next_status IS NOT NULL
GROUP BY tool_name, same_arguments
ORDER BY retries DESC, tool_name ASC, same_arguments ASC;
