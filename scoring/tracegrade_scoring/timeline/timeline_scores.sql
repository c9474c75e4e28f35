-- Every score of one trajectory.
--
-- Reads:
--   scores
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   metric       VARCHAR  One row each.
--   value        DOUBLE   NULL unless scored.
--   numerator    DOUBLE   NULL unless scored.
--   denominator  DOUBLE   NULL unless scored.
--   status       VARCHAR  scored | not_applicable | error.
--   label        VARCHAR  What the metric says beside its value; mostly NULL.
--   reason       VARCHAR  Why it was not scored; else NULL.
--   source       VARCHAR  Who or what the score comes from.
-- Order:
--   metric
SELECT
  metric,
  value,
  numerator,
  denominator,
  status,
  label,
  reason,
  source
FROM scores
WHERE date = $date AND trajectory_id = $trajectory_id
ORDER BY metric;
