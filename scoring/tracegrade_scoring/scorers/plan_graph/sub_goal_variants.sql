-- The variant of its task's graphs that serves all graph scores of each example.
--
-- The variant with the highest weighted completion is chosen, then the highest coverage, then the
-- fewest sub-goals, then the first in the file. Unknown sub-goals count as not reached. Ratios are
-- compared as rounded (docs/metrics.md, section 0.10).
--
-- Reads:
--   graph_nodes
--   graph_variants
--   judged_sub_goals
--   sub_goal_states
-- Needs:
--   sub_goal_states
-- Columns:
--   example  INTEGER  One row for each example.
--   task_id  VARCHAR  The task.
--   variant  INTEGER  Which of the variants of all its graphs, numbered in file order.
--   settled  BOOLEAN  The choice depends on nothing unknown, or there was none.
--   unjudged  BOOLEAN  A verdict should decide on one of the task's sub-goals, and does not.
-- Order:
--   none
WITH candidates AS (
  SELECT
    sub_goal_states.example,
    sub_goal_states.task_id,
    graph_variants.variant,
    count(*) AS nodes,
    count(*) FILTER (WHERE sub_goal_states.attempted) / count(*) AS coverage,
    list_sum(
      list(graph_nodes.weight ORDER BY graph_nodes.position)
      FILTER (WHERE sub_goal_states.completed AND NOT sub_goal_states.pre_satisfied)
    ) AS completed_weight,
    list_sum(
      list(graph_nodes.weight ORDER BY graph_nodes.position)
      FILTER (WHERE NOT sub_goal_states.pre_satisfied)
    ) AS weight
  FROM sub_goal_states
  INNER JOIN graph_nodes USING (task_id, sub_goal)
  LEFT JOIN judged_sub_goals ON sub_goal_states.example = judged_sub_goals.attempt_id
  INNER JOIN graph_variants
    ON
      sub_goal_states.task_id = graph_variants.task_id
      AND sub_goal_states.sub_goal = graph_variants.sub_goal
      AND coalesce(judged_sub_goals.sub_goals, []) = graph_variants.judged
  GROUP BY sub_goal_states.example, sub_goal_states.task_id, graph_variants.variant
),

-- Sub-goals outside a variant can still decide whether it is chosen.
known AS (
  SELECT
    example,
    bool_and(completed IS NOT NULL) AS completions,
    bool_and(attempted IS NOT NULL AND completed IS NOT NULL) AS everything,
    bool_or(judged AND (attempted IS NULL OR completed IS NULL)) AS unjudged
  FROM sub_goal_states
  GROUP BY example
),

rated AS (
  SELECT
    *,
    -- If nothing is left to complete, nothing is incomplete.
    round_even(coalesce(coalesce(completed_weight, 0) / nullif(weight, 0), 1), 9) AS completion
  FROM candidates
),

ranked AS (
  SELECT
    example,
    task_id,
    variant,
    row_number() OVER by_fit AS rank,
    count(*) OVER (PARTITION BY example) AS variants,
    -- Attempts decide only where completion does not.
    coalesce(completion > lead(completion) OVER by_fit, TRUE) AS completed_most
  FROM rated
  WINDOW by_fit AS (
    PARTITION BY example
    ORDER BY completion DESC, round_even(coverage, 9) DESC, nodes ASC, variant ASC
  )
)

SELECT
  ranked.example,
  ranked.task_id,
  ranked.variant,
  known.everything OR (known.completions AND ranked.completed_most) OR ranked.variants = 1
    AS settled,
  known.unjudged
FROM ranked
INNER JOIN known USING (example)
WHERE ranked.rank = 1;
