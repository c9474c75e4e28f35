-- Faults in the graphs of each attempt's task.
--
-- Source: docs/metrics.md, section 4.
--
-- Reads:
--   attempts
--   graph_faults
--   judged_sub_goals
-- Needs:
--   graph_faults
-- Columns:
--   attempt_id   INTEGER  One row each, for attempts whose task has a graph with a fault.
--   fault        VARCHAR  Why scores that read it are errors: 'specification_error: ...'.
--   in_variants  BOOLEAN  The variants are unknown; otherwise only the dependencies are.
-- Order:
--   none
SELECT
  attempts.attempt_id,
  'specification_error: ' || graph_faults.fault AS fault,
  graph_faults.in_variants
FROM attempts
LEFT JOIN judged_sub_goals USING (attempt_id)
INNER JOIN graph_faults
  ON
    attempts.task_id = graph_faults.task_id
    AND coalesce(judged_sub_goals.sub_goals, []) = graph_faults.judged;
