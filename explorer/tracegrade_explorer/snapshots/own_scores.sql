-- The scores of each run of some dates by metrics of users' own.
--
-- Reads:
--   custom_scores
-- Parameters:
--   $first_date  DATE  Date on which traces were first received, UTC.
--   $last_date   DATE  The last such date.
-- Columns:
--   trajectory_id  VARCHAR                One row each, for runs with such scores.
--   own_values     MAP(VARCHAR, DOUBLE)   By metric, of those with a value; NULL without any.
--   own_reasons    MAP(VARCHAR, VARCHAR)  By metric, why there is no value; NULL without any.
-- Order:
--   trajectory_id
SELECT
  trajectory_id,
  map_from_entries(list((metric, value)) FILTER (value IS NOT NULL)) AS own_values,
  map_from_entries(list((metric, reason)) FILTER (value IS NULL AND reason IS NOT NULL))
    AS own_reasons
FROM (
  SELECT
    trajectory_id,
    metric,
    any_value(score.value) AS value,
    any_value(left(score.reason, 200)) AS reason
  FROM custom_scores
  WHERE date BETWEEN $first_date AND $last_date AND metric IS NOT NULL
  GROUP BY trajectory_id, metric
) AS scores_of_runs
GROUP BY trajectory_id
ORDER BY trajectory_id;
