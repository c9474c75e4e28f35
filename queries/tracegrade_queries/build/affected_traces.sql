-- Traces to build: with spans or log records past the watermarks, or built by an earlier version.
--
-- A log record whose trace has no span yet is built when the first span arrives.
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
--   first_ns  BIGINT   Receipt time of the first of its spans and log records.
--   last_ns   BIGINT   Receipt time of the last of them.
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
