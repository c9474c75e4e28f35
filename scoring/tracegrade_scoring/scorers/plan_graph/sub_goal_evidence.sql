-- Moments at which each condition of an example's sub-goal began or ceased to hold, or became
-- unsure.
--
-- Like `criterion_evidence`, but with the sub-goals without a criterion. For these a verdict
-- decides, known at the end, else the first call that serves the sub-goal and succeeded. If none
-- did, and calls were not recorded, one of those may have.
--
-- Reads:
--   attempts_with_unrecorded_calls
--   calls
--   criterion_evidence
--   graph_nodes
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_verdicts
-- Needs:
--   sub_goal_examples
-- Columns:
--   example    INTEGER  One row for each example, sub_goal, condition and moment.
--   sub_goal   VARCHAR  A sub-goal of the task.
--   condition  INTEGER  Which condition of its criterion, from 0.
--   moment     INTEGER  From -1 to the number of calls.
--   holds      BOOLEAN  NULL where content that was not captured, calls that were not recorded, or
--                       no verdict decide it.
-- Order:
--   none
WITH without_criterion AS (
  SELECT
    sub_goal_examples.example,
    graph_nodes.sub_goal,
    sub_goal_verdicts.attempt_id IS NOT NULL AS judged,
    sub_goal_verdicts.holds
  FROM sub_goal_examples
  INNER JOIN graph_nodes USING (task_id)
  LEFT JOIN sub_goal_verdicts USING (attempt_id, sub_goal)
  WHERE
    sub_goal_examples.attempt_id = sub_goal_examples.example
    AND NOT graph_nodes.has_criterion
    AND (graph_nodes.counted OR sub_goal_verdicts.attempt_id IS NOT NULL)
),

serving AS (
  SELECT
    without_criterion.example,
    without_criterion.sub_goal,
    min(serving.call_index) FILTER (WHERE serving.certain) AS sure_at,
    min(serving.call_index) FILTER (WHERE NOT serving.certain) AS unsure_at
  FROM without_criterion
  INNER JOIN sub_goal_attribution AS serving
    ON
      without_criterion.example = serving.attempt_id
      AND without_criterion.sub_goal = serving.sub_goal
  WHERE
    NOT without_criterion.judged
    AND NOT serving.failed
  GROUP BY without_criterion.example, without_criterion.sub_goal
)

SELECT
  attempt_id AS example,
  sub_goal,
  condition,
  moment,
  holds
FROM criterion_evidence
WHERE
  sub_goal <> ''
  AND attempt_id IN (SELECT sub_goal_examples.example FROM sub_goal_examples)
UNION ALL
SELECT
  example,
  sub_goal,
  0 AS condition,
  sure_at AS moment,
  TRUE AS holds
FROM serving
WHERE sure_at IS NOT NULL
UNION ALL
SELECT
  example,
  sub_goal,
  0 AS condition,
  unsure_at AS moment,
  NULL AS holds
FROM serving
WHERE unsure_at < coalesce(sure_at, unsure_at + 1)
UNION ALL
SELECT
  without_criterion.example,
  without_criterion.sub_goal,
  0 AS condition,
  count(calls.call_index)::INTEGER AS moment,
  without_criterion.holds
FROM without_criterion
LEFT JOIN calls ON without_criterion.example = calls.attempt_id
LEFT JOIN serving
  ON
    without_criterion.example = serving.example
    AND without_criterion.sub_goal = serving.sub_goal
LEFT JOIN attempts_with_unrecorded_calls AS lacking
  ON without_criterion.example = lacking.attempt_id
WHERE
  without_criterion.judged
  OR (lacking.attempt_id IS NOT NULL AND serving.example IS NULL)
GROUP BY
  without_criterion.example,
  without_criterion.sub_goal,
  without_criterion.holds;
