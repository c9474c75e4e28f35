-- Tools of MCP servers that an attempt called with the server's name, as task files name them.
--
-- A file that names the tool alone means the server's tool, if the attempt neither called nor was
-- offered another tool of that name, and if no file names it with its server. Source:
-- docs/metrics.md, section 0.8.
--
-- Reads:
--   attempt_members
--   named_tools
--   bucket_steps
--   trajectories
-- Needs:
--   bucket_steps WHERE starts_with(tool_name, 'mcp__')
--   named_tools
-- Columns:
--   trajectory_id  INTEGER  Of the attempt.
--   made_name      VARCHAR  One row for each trajectory_id and each made_name in its steps.
--   tool_name      VARCHAR  Without the server.
-- Order:
--   none
WITH server_names AS (
  SELECT DISTINCT
    attempt_members.attempt_id,
    bucket_steps.tool_name AS made_name,
    plain_tool(bucket_steps.tool_name) AS tool_name
  FROM bucket_steps
  INNER JOIN attempt_members USING (trajectory_id)
  WHERE
    starts_with(bucket_steps.tool_name, 'mcp__')
    AND plain_tool(bucket_steps.tool_name) IN (SELECT named_tools.tool_name FROM named_tools)
    AND bucket_steps.tool_name NOT IN (SELECT named_tools.tool_name FROM named_tools)
),

members AS (
  SELECT
    attempt_id,
    trajectory_id
  FROM attempt_members
  WHERE attempt_id IN (SELECT server_names.attempt_id FROM server_names)
),

offers AS (
  SELECT
    members.attempt_id,
    unnest(json_extract_string(trajectories.offered_tools::VARCHAR, '$[*].name')) AS tool_name
  FROM trajectories
  INNER JOIN members USING (trajectory_id)
  WHERE json_valid(trajectories.offered_tools::VARCHAR)
),

known AS (
  SELECT
    members.attempt_id,
    bucket_steps.tool_name
  FROM bucket_steps
  INNER JOIN members USING (trajectory_id)
  UNION
  SELECT
    attempt_id,
    tool_name
  FROM offers
),

single AS (
  SELECT
    attempt_id,
    plain_tool(tool_name) AS tool_name
  FROM known
  GROUP BY attempt_id, plain_tool(tool_name)
  HAVING count(DISTINCT known.tool_name) = 1
)

SELECT
  members.trajectory_id,
  server_names.made_name,
  server_names.tool_name
FROM server_names
INNER JOIN single USING (attempt_id, tool_name)
INNER JOIN members USING (attempt_id);
