-- The issues that people merged into another one.
--
-- Parameters:
--   $issues       VARCHAR[]  Their keys.
--   $merged_into  VARCHAR[]  For each, the key of the issue for which its runs count.
-- Columns:
--   issue        VARCHAR  One row each.
--   merged_into  VARCHAR  Another one.
-- Order:
--   none
SELECT
  unnest($issues::VARCHAR[]) AS issue,  -- noqa: RF02
  unnest($merged_into::VARCHAR[]) AS merged_into;  -- noqa: RF02
