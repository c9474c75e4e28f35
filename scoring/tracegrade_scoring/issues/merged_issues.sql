-- The issues that people merged into another one.
--
-- Parameters:
--   $issues  VARCHAR[]  Their keys.
--   $wholes  VARCHAR[]  For each, the key of the issue for which its runs count.
-- Columns:
--   issue  VARCHAR  One row each.
--   whole  VARCHAR  Another one.
-- Order:
--   none
SELECT
  unnest($issues::VARCHAR[]) AS issue,  -- noqa: RF02
  unnest($wholes::VARCHAR[]) AS whole;  -- noqa: RF02
