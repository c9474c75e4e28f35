-- How many runs of each release have a score that needs a word beside it.
--
-- Source: docs/metrics.md, sections 4.1, 5.1 and 8.3.
--
-- Reads:
--   sub_goals
--   trajectory_scores
-- Columns:
--   release             VARCHAR  One row for each release, agent_name and run_mode.
--   agent_name          VARCHAR  NULL if the trace names none.
--   run_mode            VARCHAR  As the trace says: production | live | mocked; else NULL.
--   unplanned           BIGINT   Runs whose planning quality is 0 since they show no plan.
--   disputed            BIGINT   Runs on whose success verdicts of the deciding source disagree.
--   disputed_sub_goals  BIGINT   Sub-goals of runs on which they do.
-- Order:
--   agent_name, run_mode, release
WITH disputes AS (
  SELECT
    trajectory_id,
    count(*) AS sub_goals
  FROM sub_goals
  WHERE verdicts_disagree
  GROUP BY trajectory_id
)

SELECT
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  count(*) FILTER (WHERE trajectory_scores.pq.label = 'no_plan') AS unplanned,
  count(*) FILTER (WHERE trajectory_scores.success.label = 'verdicts_disagree') AS disputed,
  coalesce(sum(disputes.sub_goals), 0)::BIGINT AS disputed_sub_goals
FROM trajectory_scores
LEFT JOIN disputes USING (trajectory_id)
GROUP BY trajectory_scores.release, trajectory_scores.agent_name, trajectory_scores.run_mode
ORDER BY trajectory_scores.agent_name, trajectory_scores.run_mode, trajectory_scores.release;
