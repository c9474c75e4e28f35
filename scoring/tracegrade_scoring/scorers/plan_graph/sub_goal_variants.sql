-- The variant of its task's graphs that serves all graph scores of each example.
--
-- The one with the highest weighted completion, then the highest coverage, then the fewest
-- sub-goals, then the first in the file. What is unknown counts as not reached. Ratios are
-- compared as rounded (docs/metrics.md, section 0.10).
--
-- Reads:
--   graph_nodes
--   graph_variants
--   sub_goal_states
-- Columns:
--   example  INTEGER  One row for each example.
--   task_id  VARCHAR  The task.
--   variant  INTEGER  Which of the variants of all its graphs, from 0 in file order.
--   settled  BOOLEAN  The choice depends on nothing unknown, or there was none.
-- Order:
--   none
WITH candidates AS (
  SELECT
    sub_goal_states.example,
    sub_goal_states.task_id,
    graph_variants.variant,
    count(*) AS nodes,
    count_if(sub_goal_states.attempted) / count(*) AS coverage,
    list_sum(
      list(graph_nodes.weight ORDER BY graph_nodes.place)
      FILTER (WHERE sub_goal_states.completed AND NOT sub_goal_states.pre_satisfied)
    ) AS completed_weight,
    list_sum(
      list(graph_nodes.weight ORDER BY graph_nodes.place)
      FILTER (WHERE NOT sub_goal_states.pre_satisfied)
    ) AS weight
  FROM sub_goal_states
  INNER JOIN graph_nodes USING (task_id, sub_goal)
  INNER JOIN graph_variants USING (task_id, sub_goal)
  GROUP BY sub_goal_states.example, sub_goal_states.task_id, graph_variants.variant
),

-- What lies outside of a variant can still decide whether it is chosen.
known AS (
  SELECT
    example,
    bool_and(attempted IS NOT NULL AND completed IS NOT NULL) AS known
  FROM sub_goal_states
  GROUP BY example
),

ranked AS (
  SELECT
    example,
    task_id,
    variant,
    count(*) OVER (PARTITION BY example) AS variants,
    row_number() OVER (
      PARTITION BY example
      ORDER BY
        -- Without anything left to complete, nothing is incomplete.
        round_even(coalesce(coalesce(completed_weight, 0) / nullif(weight, 0), 1), 9) DESC,
        round_even(coverage, 9) DESC,
        nodes ASC,
        variant ASC
    ) AS rank
  FROM candidates
)

SELECT
  ranked.example,
  ranked.task_id,
  ranked.variant,
  known.known OR ranked.variants = 1 AS settled
FROM ranked
INNER JOIN known USING (example)
WHERE ranked.rank = 1;
