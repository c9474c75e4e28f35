-- The variant of its task's graph that serves all graph scores of each attempt.
--
-- The one with the highest weighted completion, then the highest coverage, then the fewest
-- sub-goals, then the first in the file. What is unknown counts as not reached. Ratios are
-- compared as rounded (metrics.md, rule 0.10).
--
-- Reads:
--   graph_nodes
--   graph_variants
--   sub_goal_states
-- Columns:
--   attempt_id  VARCHAR  One row each, for attempts whose task has a usable graph.
--   task_id     VARCHAR  The task.
--   variant     INTEGER  Which of its variants, from 0.
--   settled     BOOLEAN  The choice depends on nothing unknown, or there was none.
-- Order:
--   attempt_id
WITH outcomes AS (
  SELECT
    attempt_id,
    task_id,
    list(
      (sub_goal, coalesce(attempted, FALSE), coalesce(completed, FALSE), pre_satisfied)
      ORDER BY place
    ) AS outcome,
    bool_and(attempted IS NOT NULL AND completed IS NOT NULL) AS known
  FROM sub_goal_states
  GROUP BY attempt_id, task_id
),

-- Many attempts, few distinct outcomes.
problems AS (
  SELECT
    task_id,
    outcome,
    row_number() OVER (ORDER BY task_id, outcome) AS problem
  FROM outcomes
  GROUP BY task_id, outcome
),

reached AS (
  SELECT
    problem,
    task_id,
    unnest(outcome) AS node
  FROM problems
),

candidates AS (
  SELECT
    reached.problem,
    graph_variants.variant,
    count(*) AS nodes,
    count_if(reached.node[2]) / count(*) AS coverage,
    list_sum(
      list(graph_nodes.weight ORDER BY graph_nodes.place)
      FILTER (WHERE reached.node[3] AND NOT reached.node[4])
    ) AS completed_weight,
    list_sum(
      list(graph_nodes.weight ORDER BY graph_nodes.place) FILTER (WHERE NOT reached.node[4])
    ) AS weight
  FROM reached
  INNER JOIN graph_nodes
    ON
      reached.task_id = graph_nodes.task_id
      AND reached.node[1] = graph_nodes.sub_goal
  INNER JOIN graph_variants
    ON
      graph_nodes.task_id = graph_variants.task_id
      AND graph_nodes.sub_goal = graph_variants.sub_goal
  GROUP BY reached.problem, graph_variants.variant
),

ranked AS (
  SELECT
    problem,
    variant,
    count(*) OVER (PARTITION BY problem) AS variants,
    row_number() OVER (
      PARTITION BY problem
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
  outcomes.attempt_id,
  outcomes.task_id,
  ranked.variant,
  outcomes.known OR ranked.variants = 1 AS settled
FROM outcomes
INNER JOIN problems USING (task_id, outcome)
INNER JOIN ranked USING (problem)
WHERE ranked.rank = 1
ORDER BY outcomes.attempt_id;
