-- Every score of the trajectories being scored, as the scorers of each section give them.
--
-- Reads:
--   call_scores
--   conduct_scores
--   failure_scores
--   plan_scores
--   planning_scores
--   replanning_scores
--   rollback_scores
--   step_scores
--   sub_goal_scores
--   tool_correctness_scores
--   tool_selection_scores
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory_id and metric.
--   metric         VARCHAR  Name of the metric.
--   value          DOUBLE   NULL unless scored.
--   numerator      DOUBLE   NULL unless scored.
--   denominator    DOUBLE   NULL unless scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  What the metric says beside its value; mostly NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  Who or what the score comes from.
-- Order:
--   trajectory_id, metric
WITH all_rows AS (
  FROM call_scores
  UNION ALL BY NAME
  FROM conduct_scores
  UNION ALL BY NAME
  FROM failure_scores
  UNION ALL BY NAME
  FROM plan_scores
  UNION ALL BY NAME
  FROM planning_scores
  UNION ALL BY NAME
  FROM replanning_scores
  UNION ALL BY NAME
  FROM rollback_scores
  UNION ALL BY NAME
  FROM step_scores
  UNION ALL BY NAME
  FROM sub_goal_scores
  UNION ALL BY NAME
  FROM tool_correctness_scores
  UNION ALL BY NAME
  FROM tool_selection_scores
)

SELECT
  trajectory_id,
  metric,
  value,
  numerator,
  denominator,
  status,
  label,
  reason,
  source
FROM all_rows
ORDER BY trajectory_id, metric;
