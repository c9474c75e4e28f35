-- Time of the newest received run: the time of the lake.
--
-- Reads:
--   trajectories
-- Columns:
--   received_at  TIMESTAMP  UTC; NULL if no run has one.
-- Order:
--   received_at
SELECT make_timestamp_ns(max(trace_received_ns))::TIMESTAMP AS received_at
FROM trajectories
ORDER BY received_at;
