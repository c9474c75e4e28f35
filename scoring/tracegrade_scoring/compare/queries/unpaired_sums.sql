-- Sums for each metric's interval without pairs, over the attempts without a known task.
--
-- An attempt is a conversation, else a run; it succeeded if each of its turns did. Sums run in a
-- fixed order, so that they never differ in a bit. Source: docs/metrics.md, sections 0.2 and 8.2.
--
-- Reads:
--   compared_runs
--   run_usage
--   scores
-- Parameters:
--   $means  VARCHAR[]  Metrics whose runs count by their value, not by numerator and denominator.
-- Columns:
--   agent_name    VARCHAR  NULL if the trace names none.
--   run_mode      VARCHAR  NULL if the trace does not say.
--   metric        VARCHAR  Its name in trajectory_scores or run_usage.
--   side          VARCHAR  base | candidate; one row for each of the four.
--   runs          BIGINT   Runs.
--   scored        BIGINT   Runs with a value.
--   attempts      BIGINT   Attempts with a value.
--   numerator     DOUBLE   Sum over these attempts; NULL if there is none.
--   denominator   DOUBLE   The same for denominators.
--   squares       DOUBLE   Sum of squared numerators.
--   products      DOUBLE   Sum of numerators times denominators.
--   bases         DOUBLE   Sum of squared denominators.
--   single        BOOLEAN  Each attempt is one observation that is 0 or 1.
-- Order:
--   agent_name, run_mode, metric, side
WITH parts AS (
  SELECT
    trajectory_id,
    metric,
    sample_weight * if(metric IN $means, value, numerator) AS top,
    sample_weight * if(metric IN $means, if(value IS NULL, NULL, 1), denominator) AS bottom
  FROM scores
),

observed AS (
  SELECT
    compared_runs.*,
    parts.metric,
    parts.top,
    parts.bottom
  FROM compared_runs
  INNER JOIN parts USING (trajectory_id)
  UNION ALL
  SELECT
    compared_runs.*,
    run_usage.metric,
    run_usage.amount AS top,
    if(run_usage.amount IS NULL, NULL, 1) AS bottom
  FROM compared_runs
  INNER JOIN run_usage USING (trajectory_id)
),

attempts AS (
  SELECT
    agent_name,
    run_mode,
    metric,
    side,
    count(*) AS runs,
    count(bottom) AS scored,
    CASE
      WHEN metric != 'success' THEN sum(top ORDER BY trajectory_id)
      WHEN min(top) = 0 OR count(top) = count(*) THEN min(top)
    END AS top,
    CASE
      WHEN metric != 'success' THEN sum(bottom ORDER BY trajectory_id)
      WHEN min(top) = 0 OR count(top) = count(*) THEN min(bottom)
    END AS bottom,
    attempt
  FROM observed
  WHERE
    counted
    AND is_root
    AND task_id IS NULL
  GROUP BY agent_name, run_mode, metric, side, attempt
)

SELECT
  agent_name,
  run_mode,
  metric,
  side,
  sum(runs)::BIGINT AS runs,
  sum(scored)::BIGINT AS scored,
  count(*) FILTER (WHERE bottom > 0) AS attempts,
  sum(top ORDER BY attempt) FILTER (WHERE bottom > 0) AS numerator,
  sum(bottom ORDER BY attempt) FILTER (WHERE bottom > 0) AS denominator,
  sum(top * top ORDER BY attempt) FILTER (WHERE bottom > 0) AS squares,
  sum(top * bottom ORDER BY attempt) FILTER (WHERE bottom > 0) AS products,
  sum(bottom * bottom ORDER BY attempt) FILTER (WHERE bottom > 0) AS bases,
  coalesce(bool_and(bottom = 1 AND top IN (0, 1)) FILTER (WHERE bottom > 0), FALSE) AS single
FROM attempts
GROUP BY agent_name, run_mode, metric, side
ORDER BY agent_name, run_mode, metric, side;
