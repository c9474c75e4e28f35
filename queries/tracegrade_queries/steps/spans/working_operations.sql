-- Spans that at least one dialect recognizes, without those that judge.
--
-- Reads:
--   judging_spans
-- Takes:
--   retrieving_operations
-- Needs:
--   judging_spans
-- Order:
--   none
DELETE FROM working_operations
WHERE key IN (SELECT key FROM judging_spans);
