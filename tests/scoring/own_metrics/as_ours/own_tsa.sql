-- Decision points where the first call was right / decision points counted, 0 to 1.
-- Metric: own_tsa   Version: 1   Range: 0..1   Better: more   Kind: share   Unit: decision points
-- Reads: attempts, decisions
WITH totals AS (
  SELECT
    attempt_id,
    count_if(counted) AS counted,
    count_if(counted AND correct) AS correct,
    min(unknown_because) FILTER (WHERE counted AND correct IS NULL) AS fault,
    list_sort(list_distinct(flatten(list(criteria) FILTER (WHERE counted)))) AS criteria
  FROM decisions
  GROUP BY attempt_id
),

explained AS (
  SELECT
    attempts.attempt_id,
    totals.* EXCLUDE (attempt_id),
    CASE
      WHEN attempts.has_expected AND coalesce(totals.counted, 0) = 0 THEN 'no_decision_point'
      WHEN list_has_any(totals.criteria, ['a', 'c']) THEN NULL
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      ELSE 'no_expectation'
    END AS nothing
  FROM attempts
  LEFT JOIN totals USING (attempt_id)
)

SELECT
  attempt_id,
  correct AS numerator,
  counted AS denominator,
  nothing,
  fault,
  if(nothing IS NULL AND fault IS NULL, array_to_string(criteria, ', '), NULL) AS label
FROM explained
