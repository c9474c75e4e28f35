-- The scores of one metric of a user's own: its result for each attempt, checked against its
-- promises.
--
-- The metric gives exactly one row for each attempt, and a value that is finite and within its
-- range. Source: docs/metrics.md, sections 0.1 and 0.12.
--
-- Reads:
--   attempts
--   own_metric_rows
--   trajectory_ids
-- Parameters:
--   $low   DOUBLE  The lowest possible value; NULL without a bound.
--   $high  DOUBLE  The highest possible value; NULL without a bound.
-- Columns:
--   trajectory_ids  INTEGER[]  Attempts whose scores are equal; each is in one row.
--   score           SCORE      Error where the metric breaks a promise.
-- Order:
--   none
WITH given AS (
  SELECT
    trajectory_ids.trajectory_id AS attempt_id,
    count(*) AS row_count,
    min(own_metric_rows.numerator) AS numerator,
    min(own_metric_rows.denominator) AS denominator,
    min(own_metric_rows.nothing) AS nothing,
    min(own_metric_rows.fault) AS fault,
    min(own_metric_rows.label) AS label
  FROM own_metric_rows
  INNER JOIN trajectory_ids ON own_metric_rows.attempt_id = trajectory_ids.id
  GROUP BY trajectory_ids.trajectory_id
),

answers AS (
  SELECT
    attempts.attempt_id,
    given.row_count,
    given.numerator,
    given.denominator,
    given.nothing,
    given.fault,
    given.label
  FROM attempts
  LEFT JOIN given ON attempts.attempt_id = given.attempt_id
),

measured AS (
  SELECT
    *,
    -- Sums are exact for numbers up to 2**53.
    coalesce(
      abs(numerator) <= 9007199254740992
      AND denominator > 0
      AND denominator <= 9007199254740992
      AND ($low::DOUBLE IS NULL OR numerator / denominator >= $low::DOUBLE)
      AND ($high::DOUBLE IS NULL OR numerator / denominator <= $high::DOUBLE),
      FALSE
    ) AS in_range
  FROM answers
),

explained AS (
  SELECT
    attempt_id,
    numerator,
    denominator,
    if(row_count = 1, nothing, NULL) AS nothing,
    CASE
      WHEN row_count IS NULL THEN 'no_row'
      WHEN row_count > 1 THEN 'two_rows'
      WHEN fault IS NOT NULL THEN fault
      WHEN NOT in_range THEN 'out_of_range'
    END AS fault,
    if(row_count = 1, label, NULL) AS label
  FROM measured
),

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM explained
  GROUP BY ALL
)

SELECT
  trajectory_ids,
  score_of(numerator, denominator, nothing, fault, label, 'own') AS score
FROM cases;
