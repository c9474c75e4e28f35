-- A tool's own name: without that of the MCP server whose tool it is, as Claude's agents call it.
-- NULL for NULL.
CREATE OR REPLACE TEMP MACRO plain_tool(NAME) AS regexp_replace(name, '^mcp__.+?__', '');
