-- Executions of tools by who runs the agent: what a provider ran is a call of its own, also where
-- an instrumentation made a span of it.
--
-- The columns are those of found_executions.
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
