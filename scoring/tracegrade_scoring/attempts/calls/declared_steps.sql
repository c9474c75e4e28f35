-- The steps of a bucket, with the kinds that task files declare for calls of a tool.
--
-- Source: docs/metrics.md, section 0.8.
--
-- Reads:
--   task_tools
-- Takes:
--   named_steps
-- Needs:
--   task_tools WHERE kind IS NOT NULL
-- Order:
--   none
UPDATE declared_steps SET
  kind = task_tools.kind,
  status
  = if(task_tools.kind = 'tool_call', coalesce(declared_steps.status, 'unknown'), NULL),
  plan
  = if(task_tools.kind = 'plan', coalesce(declared_steps.plan, declared_steps.arguments), NULL)
FROM task_tools
WHERE
  declared_steps.tool_name = task_tools.tool_name
  AND declared_steps.kind IN ('tool_call', 'plan', 'handoff', 'answer')
  AND declared_steps.kind <> task_tools.kind;
