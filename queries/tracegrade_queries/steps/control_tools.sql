-- Tools by which an agent plans, hands over or answers; they are no tool calls (metrics.md, rule 0.8).
--
-- Columns:
--   pattern  VARCHAR  RE2 that the whole tool name matches, in any case; one row each.
--   kind     VARCHAR  plan | handoff | answer: kind of the step.
-- Order:
--   pattern
SELECT
  pattern,
  kind
FROM (
  VALUES
  ('TodoWrite', 'plan'),
  ('final_answer', 'answer'),
  ('transfer_to_.+', 'handoff'),
  ('transfer_back_to_.+', 'handoff'),
  ('update_plan', 'plan'),
  ('write_todos', 'plan')
) AS control_tools (pattern, kind)
ORDER BY pattern;
