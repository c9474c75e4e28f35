-- Traces that have spans, or log records beside their spans, past the watermarks, and those whose
-- trajectories an earlier version built.
--
-- A log record whose trace has no span yet is built when the first one arrives.
--
-- Reads:
--   trace_receipts
--   trajectories
-- Columns:
--   trace_id  VARCHAR  One row each.
--   date      DATE     Date the trace's first span was received, UTC.
--   spans     BIGINT   All its spans.
--   records   BIGINT   All its spans and log records.
--   imported  BOOLEAN  All its spans were imported.
--   first_ns  BIGINT   When the first of its spans and log records was received.
--   last_ns   BIGINT   When the last of them was.
--   new       BIGINT   Its spans and log records past their watermarks.
-- Order:
--   none
WITH outdated AS (
  SELECT trace_id
  FROM trajectories
  WHERE
    trace_records IS NULL
    OR flags IS NULL
    OR (parent_trajectory_id IS NOT NULL AND parent_step IS NULL)
)

SELECT
  trace_id,
  first_date AS date,
  spans,
  records,
  imported,
  first_ns,
  last_ns,
  new
FROM trace_receipts
WHERE
  spans > 0
  AND (
    new > 0
    OR trace_id IN (FROM outdated)
  );
