-- Fewest steps that the task needs / steps taken, for successful attempts, 0 to 1.
-- Metric: own_step_efficiency   Version: 1   Range: 0..1   Better: more   Kind: ratio   Unit: steps
-- Reads: attempts
WITH counted AS (
  SELECT
    *,
    if(count_steps = 'all', step_count, call_count) AS actual
  FROM attempts
)

SELECT
  attempt_id,
  least(optimal_steps, actual) AS numerator,
  actual AS denominator,
  success_fault AS fault,
  CASE
    WHEN success_fault IS NOT NULL THEN NULL
    WHEN success IS NULL THEN if(ending = 'interrupted', 'interrupted', 'success_unknown')
    WHEN NOT success THEN 'failed'
    WHEN ambiguous THEN 'ambiguous_task'
    WHEN NOT specified THEN 'no_task'
    WHEN optimal_steps IS NULL THEN 'no_optimum'
    WHEN optimal_steps = 0 THEN 'optimum_zero'
    WHEN actual = 0 THEN 'no_steps'
  END AS nothing
FROM counted
