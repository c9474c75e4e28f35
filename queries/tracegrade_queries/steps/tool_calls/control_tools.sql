-- Tools with which an agent plans, hands over or answers; their calls are not tool calls.
--
-- A person is not an agent: a call that passes the user on to a person stays a tool call. Source:
-- docs/metrics.md, section 0.8.
--
-- Columns:
--   pattern  VARCHAR  RE2 that the whole tool name matches, in any case; one row each.
--   kind     VARCHAR  plan | handoff | answer | tool_call: kind of the step; the last of several.
-- Order:
--   pattern
WITH control_tools AS (
  SELECT
    unnest(
      [
        { 'pattern': 'TodoWrite', 'kind': 'plan' },
        { 'pattern': 'final_answer', 'kind': 'answer' },
        -- Pydantic AI's; with several types of output, one each.
        { 'pattern': 'final_result(_.+)?', 'kind': 'answer' },
        { 'pattern': '(handoff-)?(transfer|hand_?off)_(back_)?to_.+', 'kind': 'handoff' },
        {
          'pattern': '(transfer|hand_?off)_to_(a_)?(human|person|operator|user).*',
          'kind': 'tool_call'
        },
        -- LlamaIndex's, one for all agents.
        { 'pattern': 'handoff', 'kind': 'handoff' },
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
