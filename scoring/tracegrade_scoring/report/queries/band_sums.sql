-- Dependency failures by planning quality, and tokens and cost by tool selection, task by task.
--
-- A run is in the band of its own score. Planning quality: no plan, below 5, 5 to below 7, 7 and
-- more; runs whose task needs no plan are in none. Tool-selection accuracy as an axis, from 0 to
-- 10: below 6, 6 to 9, above 9. Runs without the score are in no band.
--
-- A run has a dependency failure if it completed a sub-goal before a prerequisite or shows a
-- cascading error. It has none if one of the two was scored, and neither was an error; else this
-- is unknown. Source: docs/metrics.md, sections 0.6, 4.4, 5, 7.4 and 9.4.
--
-- Reads:
--   run_usage
--   trajectory_scores
-- Columns:
--   release      VARCHAR  One row for each of the first six.
--   agent_name   VARCHAR  NULL if the trace names none.
--   run_mode     VARCHAR  As the trace says: production | live | mocked; else NULL.
--   measure      VARCHAR  dependency_failure | tokens_per_run | cost_usd_per_run.
--   band         VARCHAR  Of planning quality for the first measure, of tool selection for others.
--   task_id      VARCHAR  NULL for runs whose task is not known.
--   runs         BIGINT   At least 1.
--   known        BIGINT   Runs whose amount is known: only these count in the sums.
--   total        DOUBLE   Sum of the amounts; NULL if none is known.
--   numerator    DOUBLE   The same; dependency failures are weighted by sample_weight.
--   denominator  DOUBLE   Number of these runs, with the same weights; NULL if none is known.
--   single       BOOLEAN  One run at weight 1.
-- Order:
--   agent_name, run_mode, release, measure, band, task_id
WITH graded AS (
  SELECT
    *,
    CASE
      WHEN pq.label = 'no_plan' THEN 'no plan'
      WHEN pq.label = 'no_plan_needed' THEN NULL
      WHEN pq.value < 5 THEN 'below 5'
      WHEN pq.value < 7 THEN '5 to below 7'
      WHEN pq.value >= 7 THEN '7 and more'
    END AS planning,
    CASE
      WHEN tsa.value < 0.6 THEN 'below 6'
      WHEN tsa.value <= 0.9 THEN '6 to 9'
      WHEN tsa.value > 0.9 THEN 'above 9'
    END AS selection,
    CASE
      WHEN dependency_violation.value > 0 OR cascading_error.value > 0 THEN 1
      WHEN 'error' IN (dependency_violation.status, cascading_error.status) THEN NULL
      WHEN dependency_violation.value = 0 OR cascading_error.value = 0 THEN 0
    END AS dependency_failure
  FROM trajectory_scores
),

amounts AS (
  SELECT
    release,
    agent_name,
    run_mode,
    task_id,
    trajectory_id,
    'dependency_failure' AS measure,
    planning AS band,
    dependency_failure AS amount,
    sample_weight AS weight
  FROM graded
  UNION ALL BY NAME
  SELECT
    graded.release,
    graded.agent_name,
    graded.run_mode,
    graded.task_id,
    trajectory_id,
    run_usage.metric AS measure,
    graded.selection AS band,
    run_usage.amount,
    1 AS weight
  FROM graded
  INNER JOIN run_usage USING (trajectory_id)
  WHERE run_usage.metric IN ('tokens_per_run', 'cost_usd_per_run')
)

SELECT
  release,
  agent_name,
  run_mode,
  measure,
  band,
  task_id,
  count(*) AS runs,
  count(amount) AS known,
  sum(amount ORDER BY trajectory_id) AS total,
  sum(weight * amount ORDER BY trajectory_id) AS numerator,
  sum(weight ORDER BY trajectory_id) FILTER (WHERE amount IS NOT NULL) AS denominator,
  count(amount) = 1 AND denominator = 1 AS single
FROM amounts
WHERE band IS NOT NULL
GROUP BY release, agent_name, run_mode, measure, band, task_id
ORDER BY agent_name, run_mode, release, measure, band, task_id;
