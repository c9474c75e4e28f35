-- Distribution of a page's values: the number of runs in each of equally wide parts of a range.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $low   DOUBLE   Start of the first part.
--   $high  DOUBLE   End of the last part, included; above $low.
--   $bins  INTEGER  Parts.
-- Columns:
--   bin   INTEGER  From 0; NULL: runs without a value.
--   runs  BIGINT   At least 1.
-- Order:
--   bin
SELECT
  -- `least` and `greatest` ignore NULL, which belongs to no part.
  CASE
    WHEN measured IS NOT NULL
      THEN greatest(0, least($bins - 1, floor((measured - $low) / ($high - $low) * $bins)))
  END::INTEGER AS bin,
  count(*) AS runs
FROM matching_runs
WHERE measured IS NULL OR measured BETWEEN $low AND $high
GROUP BY bin
ORDER BY bin;
