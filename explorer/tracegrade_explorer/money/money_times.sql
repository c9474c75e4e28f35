-- Durations of the runs of a window: runs in each of parts that are twice as wide as the last.
--
-- Reads:
--   run_index
-- Parameters:
--   $since  TIMESTAMP  When the window begins; NULL: it has the runs of any time.
--   $until  TIMESTAMP  When it ends, itself excluded; NULL as $since.
-- Columns:
--   power  INTEGER  The part begins at 2 to this power, in milliseconds, but part 0 at 0.
--   runs   BIGINT   At least 1.
-- Order:
--   power
SELECT
  floor(log2(greatest(duration_ms, 1)))::INTEGER AS power,
  count(*) AS runs
FROM run_index
WHERE
  parent_trajectory_id IS NULL
  AND duration_ms IS NOT NULL
  AND (
    $since::TIMESTAMP IS NULL
    OR (start_time >= $since::TIMESTAMP AND start_time < $until::TIMESTAMP)
  )
GROUP BY power
ORDER BY power;
