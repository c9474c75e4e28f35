-- The steps of a bucket, with the names of MCP tools that task files use.
--
-- Source: docs/metrics.md, section 0.8.
--
-- Reads:
--   server_tools
-- Takes:
--   bucket_steps
-- Needs:
--   server_tools
-- Order:
--   none
UPDATE named_steps SET tool_name = server_tools.tool_name
FROM server_tools
WHERE
  named_steps.trajectory_id = server_tools.trajectory_id
  AND named_steps.tool_name = server_tools.made_name;
