-- Executions of tools by the agent's own process.
--
-- A provider's execution is a call of its own, even if an instrumentation made a span of it. The
-- columns are those of found_executions.
--
-- Reads:
--   provider_calls
-- Takes:
--   found_executions
-- Needs:
--   provider_calls
-- Order:
--   none
DELETE FROM executions
WHERE key IN (SELECT execution FROM provider_calls);
