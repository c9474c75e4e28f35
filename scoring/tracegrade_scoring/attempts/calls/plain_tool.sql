-- A tool's own name, without the MCP server's name that Claude's agents put before it. NULL for
-- NULL.
CREATE OR REPLACE TEMP MACRO plain_tool(NAME) AS regexp_replace(name, '^mcp__.+?__', '');
