-- Executions that were recorded before: in replays, or by an exporter that sends a span twice.
--
-- If models requested an id less often than it was executed, the surplus executions may be copies.
-- With equal content, they are copies if their times are equal, if a replay recorded them, or if
-- no model requested the random id. Without an id, only executions in a replayed run are copies.
--
-- Reads:
--   run_copies
--   tool_records
-- Needs:
--   tool_records
-- Columns:
--   key   BIGINT  As in tool_records; one row each.
--   next  BIGINT  The record that counts.
-- Order:
--   none
WITH numbered AS (
  SELECT
    tool_records.*,
    run_copies.counted_run IS NOT NULL AS in_replay,
    row_number() OVER (
      PARTITION BY tool_records.run, tool_records.output ORDER BY tool_records.rank
    ) AS occurrence
  FROM tool_records
  LEFT JOIN run_copies USING (run)
),

by_run AS (
  SELECT
    key,
    first_value(key) OVER (
      PARTITION BY counted_run, output, occurrence ORDER BY run <> counted_run, rank
    ) AS next
  FROM numbered
  WHERE in_replay
),

placed AS (
  SELECT
    *,
    row_number() OVER in_order AS position,
    first_value(key) OVER in_order AS next,
    first_value(start_ns) OVER in_order AS first_start_ns,
    first_value(end_ns) OVER in_order AS first_end_ns
  FROM numbered
  WHERE call_id IS NOT NULL
  WINDOW
    in_order AS (
      PARTITION BY counted_run, scope_name, output ORDER BY run <> counted_run, rank
    )
),

by_id AS (
  SELECT
    key,
    next
  FROM placed
  WHERE
    position > greatest(requests, 1)
    AND (
      (start_ns = first_start_ns AND end_ns = first_end_ns)
      OR (replayed AND (requests > 0 OR NOT failed))
      OR (requests = 0 AND NOT failed AND is_random_id(call_id))
    )
),

pairs AS (
  SELECT * FROM by_run
  WHERE key <> next
  UNION ALL
  SELECT * FROM by_id
)

SELECT
  key,
  min(next) AS next
FROM pairs
GROUP BY key;
