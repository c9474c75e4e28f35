-- Model spans of smolagents' runs.
--
-- Their models get a task below `New task:`, and more prompts in the user's name. A run without an
-- agent's span may be of any framework, since its process may have died.
--
-- Reads:
--   opening_texts
--   operations
--   operation_runs
-- Needs:
--   opening_texts WHERE starts_with(text, task_heading())
-- Columns:
--   key  BIGINT  Span of such a run; one row each.
-- Order:
--   none
WITH task_runs AS (
  SELECT DISTINCT operation_runs.run
  FROM opening_texts
  INNER JOIN operation_runs USING (key)
  WHERE starts_with(opening_texts.text, task_heading())
),

smolagents_runs AS (
  SELECT operation_runs.run
  FROM operation_runs
  SEMI JOIN task_runs USING (run)
  INNER JOIN operations USING (key)
  GROUP BY operation_runs.run
  HAVING
    bool_or(contains(operations.scope_name, 'smolagents'))
    OR NOT bool_or(operations.operation = 'agent')
)

SELECT operation_runs.key
FROM operation_runs
SEMI JOIN smolagents_runs USING (run);
