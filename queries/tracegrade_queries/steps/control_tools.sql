-- Tools by which an agent plans, hands over or answers: no tool calls (metrics.md, rule 0.8).
--
-- Columns:
--   pattern  VARCHAR  RE2 that the whole tool name matches, in any case; one row each.
--   kind     VARCHAR  plan | handoff | answer: kind of the step.
-- Order:
--   pattern
WITH control_tools AS (
  SELECT
    unnest(
      [
        { 'pattern': 'TodoWrite', 'kind': 'plan' },
        { 'pattern': 'final_answer', 'kind': 'answer' },
        { 'pattern': 'transfer_(back_)?to_.+', 'kind': 'handoff' },
        { 'pattern': 'update_plan', 'kind': 'plan' },
        { 'pattern': 'write_todos', 'kind': 'plan' }
      ]
    ) AS tool
)

SELECT
  tool['pattern'] AS pattern,
  tool['kind'] AS kind
FROM control_tools
ORDER BY pattern;
