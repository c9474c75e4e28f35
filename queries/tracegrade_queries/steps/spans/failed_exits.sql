-- Spans whose process ended with a non-zero exit code, by the conventions for processes.
--
-- Reads:
--   all_spans
--   shapes
-- Needs:
--   shapes WHERE list_contains(names, 'process.exit.code')
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH exiting AS (
  SELECT shape
  FROM shapes
  WHERE list_contains(names, 'process.exit.code')
)

SELECT all_spans.key
FROM all_spans
SEMI JOIN exiting USING (shape)
WHERE try_cast(all_spans.attributes['process.exit.code'] AS BIGINT) <> 0;
