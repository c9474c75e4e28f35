-- Whether agents change their plan when a call fails, by release.
--
-- Near-zero replanning is a finding only where failures occurred.
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   killed_runs
--   superseded_runs
--   trajectory_scores
-- Columns:
--   release            VARCHAR  NULL if not sent. One row for each of the first three.
--   agent_name         VARCHAR  NULL if none is named.
--   run_mode           VARCHAR  NULL if not said.
--   with_plan          BIGINT   Trajectories that showed a plan; others are not counted below.
--   failures           DOUBLE   Failed calls in them, also by the error_pattern of a task file.
--   followed           DOUBLE   Of them, those with a replan before the next call.
--   followed_share     DOUBLE   followed / failures, in [0, 1]; NULL without failures.
--   replans            DOUBLE   Changes of the remaining plan.
--   reactive_share     DOUBLE   Replans after a failure / replans; NULL without replans.
-- Order:
--   release, agent_name, run_mode
WITH counted AS (
  SELECT trajectory_scores.*
  FROM trajectory_scores
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON trajectory_scores.trajectory_id = killed_runs.trajectory_id
)

SELECT
  release,
  agent_name,
  run_mode,
  count(*) FILTER (WHERE replans.status = 'scored') AS with_plan,
  coalesce(sum(replan_given_failure.denominator), 0) AS failures,
  coalesce(sum(replan_given_failure.numerator), 0) AS followed,
  followed / nullif(failures, 0) AS followed_share,
  coalesce(sum(counted.replans.value), 0) AS replans,
  sum(replans_reactive.value) / nullif(sum(counted.replans.value), 0)
    AS reactive_share
FROM counted
GROUP BY release, agent_name, run_mode
HAVING with_plan > 0
ORDER BY release, agent_name, run_mode;
