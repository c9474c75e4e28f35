-- Success of each attempt, and its steps compared with the fewest that its task needs.
--
-- The optimum is the task's, else the number of expected calls where that list is complete.
-- Source: [Harness], "Trajectory scoring" and "Metrics to track" (one reciprocal each);
-- docs/metrics.md, sections 3.1 and 8.3.
--
-- Reads:
--   attempt_members
--   attempts
--   calls
--   endings
--   own_expectations
--   steps
--   successes
--   tasks
-- Columns:
--   trajectory_ids   INTEGER[]  Attempts whose scores are equal; each is in one row.
--   success          SCORE      1 or 0. Its source is the source of the verdict; label:
--                               verdicts_disagree where verdicts of that source said yes and no.
--   actual_steps     SCORE      A count.
--   step_efficiency  SCORE      Label: 'extra_steps: N' where the optimum is 0. Its source:
--                               annotated | expected.
--   step_ratio       SCORE      As step_efficiency.
-- Order:
--   none
WITH call_counts AS (
  SELECT
    attempt_id,
    count(*) AS calls
  FROM calls
  GROUP BY attempt_id
),

step_counts AS (
  SELECT
    attempt_members.attempt_id,
    count(*) AS steps
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  GROUP BY attempt_members.attempt_id
),

counted AS (
  SELECT
    attempts.attempt_id,
    attempts.success,
    attempts.success_source,
    successes.verifier_failed,
    successes.disagree,
    attempts.ambiguous,
    attempts.specified,
    coalesce(if(tasks.count_steps = 'all', step_counts.steps, call_counts.calls), 0) AS actual,
    CASE
      WHEN tasks.optimal_steps IS NOT NULL THEN tasks.optimal_steps
      WHEN tasks.has_expected AND tasks.expected_complete = 'true'
        THEN coalesce(len(own_expectations.positions), tasks.expected_count)
    END AS optimum,
    if(tasks.optimal_steps IS NOT NULL, 'annotated', 'expected') AS optimum_source,
    if(endings.ending = 'interrupted', 'interrupted', 'success_unknown') AS why_unknown
  FROM attempts
  INNER JOIN successes USING (attempt_id)
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN own_expectations ON attempts.attempt_id = own_expectations.attempt_id
  LEFT JOIN call_counts ON attempts.attempt_id = call_counts.attempt_id
  LEFT JOIN step_counts ON attempts.attempt_id = step_counts.attempt_id
  LEFT JOIN endings ON attempts.attempt_id = endings.trajectory_id
),

explained AS (
  SELECT
    *,
    if(verifier_failed, 'verifier_failed', NULL) AS error,
    CASE
      WHEN success IS NULL THEN why_unknown
      WHEN NOT success THEN 'failed'
      WHEN ambiguous THEN 'ambiguous_task'
      WHEN NOT specified THEN 'no_task'
      WHEN optimum IS NULL THEN 'no_optimum'
      WHEN optimum = 0 THEN 'optimum_zero'
    END AS not_applicable
  FROM counted
),

labeled AS (
  SELECT
    *,
    if(error IS NULL AND not_applicable = 'optimum_zero', concat('extra_steps: ', actual), NULL)
      AS extra_steps
  FROM explained
),

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM labeled
  GROUP BY ALL
)

SELECT
  trajectory_ids,
  score_of(
    success::INTEGER,
    1,
    if(success IS NULL AND error IS NULL, why_unknown, NULL),
    error,
    CASE WHEN disagree THEN if(success_source = 'human', 'disputed', 'verdicts_disagree') END,
    if(success IS NULL OR error IS NOT NULL, NULL, success_source)
  ) AS success,
  score_of(actual, 1, NULL, NULL, NULL, 'static') AS actual_steps,
  score_of(
    least(optimum, actual),
    actual,
    if(error IS NULL, coalesce(not_applicable, if(actual = 0, 'no_steps', NULL)), NULL),
    error,
    extra_steps,
    if(error IS NULL AND not_applicable IS NULL AND actual > 0, optimum_source, NULL)
  ) AS step_efficiency,
  score_of(
    actual,
    optimum,
    if(error IS NULL, not_applicable, NULL),
    error,
    extra_steps,
    if(error IS NULL AND not_applicable IS NULL, optimum_source, NULL)
  ) AS step_ratio
FROM cases;
