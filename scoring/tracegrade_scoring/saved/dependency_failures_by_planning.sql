-- Share of runs with a dependency failure by planning quality, in each release.
--
-- A run has a dependency failure if it completed a sub-goal before a prerequisite or shows a
-- cascading error. It has none if one of the two was scored, and neither was an error; else this
-- is unknown. Tasks may differ between bands. `report --long` has intervals.
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   killed_runs
--   superseded_runs
--   trajectory_scores
-- Columns:
--   release      VARCHAR  NULL if not sent. One row for each of the first four.
--   agent_name   VARCHAR  NULL if none is named.
--   run_mode     VARCHAR  NULL if unknown.
--   planning     VARCHAR  no plan (0 by definition) | below 5 | 5 to below 7 | 7 and more. Runs
--                         without planning quality, or whose task needs no plan, are in no row.
--   runs         BIGINT   At least 1.
--   tasks        BIGINT   Known tasks of these runs.
--   known        BIGINT   Runs with a known answer to whether they have a dependency failure.
--   failures     BIGINT   Runs among them that have one.
--   share        DOUBLE   failures / known by sample_weight, in [0, 1]; NULL if none is known.
-- Order:
--   release, agent_name, run_mode, planning
WITH counted AS (
  SELECT trajectory_scores.*
  FROM trajectory_scores
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON trajectory_scores.trajectory_id = killed_runs.trajectory_id
),

graded AS (
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
      WHEN dependency_violation.value > 0 OR cascading_error.value > 0 THEN 1
      WHEN 'error' IN (dependency_violation.status, cascading_error.status) THEN NULL
      WHEN dependency_violation.value = 0 OR cascading_error.value = 0 THEN 0
    END AS failed
  FROM counted
)

SELECT
  release,
  agent_name,
  run_mode,
  planning,
  count(*) AS runs,
  count(DISTINCT task_id) AS tasks,
  count(failed) AS known,
  count(*) FILTER (WHERE failed = 1) AS failures,
  sum(sample_weight * failed ORDER BY trajectory_id)
  / sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE failed IS NOT NULL) AS share
FROM graded
WHERE planning IS NOT NULL
GROUP BY release, agent_name, run_mode, planning
ORDER BY release, agent_name, run_mode, planning;
