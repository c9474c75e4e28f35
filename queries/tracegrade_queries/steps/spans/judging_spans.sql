-- Evaluators and the spans below them, which are not work of the agent.
--
-- Reads:
--   judge_ends
--   found_operations
-- Needs:
--   found_operations WHERE operation = 'evaluator'
-- Columns:
--   key  BIGINT
-- Order:
--   none
WITH evaluators AS (
  SELECT key
  FROM found_operations
  WHERE operation = 'evaluator'
)

SELECT key
FROM evaluators
UNION ALL
SELECT judge_ends.key
FROM judge_ends
INNER JOIN evaluators ON judge_ends.last = evaluators.key;
