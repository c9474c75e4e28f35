-- When each condition of a sub-goal began to hold, ceased to, or became unsure.
--
-- As `criterion_evidence`, with the sub-goals that have no criterion: of these a verdict decides,
-- known at the end, else the first call that serves it and succeeded.
--
-- Reads:
--   attempts
--   calls
--   criterion_evidence
--   graph_nodes
--   sub_goal_attribution
--   sub_goal_verdicts
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal, condition and moment.
--   sub_goal    VARCHAR  A sub-goal of the attempt's task.
--   condition   INTEGER  Which condition of its criterion, from 0.
--   moment      INTEGER  From -1 to the number of calls.
--   holds       BOOLEAN  NULL where content that was not captured, or no verdict, decides it.
-- Order:
--   none
WITH without_criterion AS (
  SELECT
    attempts.attempt_id,
    graph_nodes.sub_goal,
    sub_goal_verdicts.attempt_id IS NOT NULL AS judged,
    sub_goal_verdicts.holds
  FROM attempts
  INNER JOIN graph_nodes USING (task_id)
  LEFT JOIN sub_goal_verdicts USING (attempt_id, sub_goal)
  WHERE
    graph_nodes.counted
    AND NOT graph_nodes.has_criterion
),

serving AS (
  SELECT
    without_criterion.attempt_id,
    without_criterion.sub_goal,
    min(calls.call_index) FILTER (WHERE sub_goal_attribution.certain) AS sure_at,
    min(calls.call_index) FILTER (WHERE NOT sub_goal_attribution.certain) AS unsure_at
  FROM without_criterion
  INNER JOIN sub_goal_attribution USING (attempt_id, sub_goal)
  INNER JOIN calls USING (attempt_id, call_index)
  WHERE
    NOT without_criterion.judged
    AND NOT calls.failed
  GROUP BY without_criterion.attempt_id, without_criterion.sub_goal
)

SELECT
  attempt_id,
  sub_goal,
  condition,
  moment,
  holds
FROM criterion_evidence
WHERE sub_goal <> ''
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  0 AS condition,
  sure_at AS moment,
  TRUE AS holds
FROM serving
WHERE sure_at IS NOT NULL
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  0 AS condition,
  unsure_at AS moment,
  NULL AS holds
FROM serving
WHERE unsure_at < coalesce(sure_at, unsure_at + 1)
UNION ALL
SELECT
  without_criterion.attempt_id,
  without_criterion.sub_goal,
  0 AS condition,
  count(calls.call_index)::INTEGER AS moment,
  without_criterion.holds
FROM without_criterion
LEFT JOIN calls USING (attempt_id)
WHERE without_criterion.judged
GROUP BY
  without_criterion.attempt_id,
  without_criterion.sub_goal,
  without_criterion.holds;
