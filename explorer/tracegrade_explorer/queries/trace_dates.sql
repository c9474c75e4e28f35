-- On which dates the spans of a run's trace were received.
--
-- Reads:
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     Date its trace was first received, UTC.
-- Columns:
--   trace_id   VARCHAR  One row.
--   last_date  DATE     The last date; today where an earlier version built the row.
-- Order:
--   one row
SELECT
  trace_id,
  greatest(
    $date,
    coalesce(make_timestamp_ns(trace_received_ns)::DATE, current_date::DATE)
  ) AS last_date
FROM trajectories
WHERE date = $date AND trajectory_id = $trajectory_id
ORDER BY trace_id;
