-- The tasks that agents fail most, with what these attempts have in common.
--
-- Runs that a later run of their trial replaced do not count.
--
-- Reads:
--   superseded_runs
--   trajectory_scores
-- Columns:
--   task_id        VARCHAR  One row each, of those with a known success.
--   task_category  VARCHAR  NULL if not known.
--   attempts       BIGINT   Whose success is known; at least 1.
--   successes      BIGINT
--   success_share  DOUBLE   successes / attempts, in [0, 1].
--   tsa            DOUBLE   Correct decisions / all of the attempts; NULL if none is scored.
--   mean_steps     DOUBLE   NULL if none is scored.
--   redundant      DOUBLE   Redundant calls of all attempts; NULL if none is scored.
--   ending         VARCHAR  How most of them ended, the first by name of equals; NULL if unknown.
-- Order:
--   success_share, attempts DESC, task_id
WITH counted AS (
  SELECT trajectory_scores.*
  FROM trajectory_scores
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
)

SELECT
  task_id,
  min(task_category) AS task_category,
  count(*) AS attempts,
  count(*) FILTER (WHERE success.value = 1) AS successes,
  successes / attempts AS success_share,
  sum(counted.tsa.numerator) / nullif(sum(counted.tsa.denominator), 0) AS tsa,
  avg(actual_steps.value) AS mean_steps,
  sum(redundant_calls.value) AS redundant,
  mode(termination.label ORDER BY termination.label) AS ending
FROM counted
WHERE success.status = 'scored' AND task_id IS NOT NULL
GROUP BY task_id
ORDER BY success_share ASC, attempts DESC, task_id ASC;
