-- Spans whose attributes state a failure: an exit code other than 0, or a type of error.
--
-- By the conventions, `error.type` is set only if the operation failed. Some instrumentations set
-- it without the status ERROR.
--
-- Reads:
--   all_spans
--   shapes
-- Needs:
--   shapes WHERE list_has_any(names, ['error.type', 'process.exit.code'])
-- Columns:
--   key         BIGINT   One row each.
--   error_type  VARCHAR  NULL if only the exit code states it.
-- Order:
--   none
WITH stating AS (
  SELECT shape
  FROM shapes
  WHERE list_has_any(names, ['error.type', 'process.exit.code'])
),

stated AS (
  SELECT
    all_spans.key,
    CASE
      WHEN lower(all_spans.attributes['error.type']) NOT IN ('', 'none', 'null')
        THEN all_spans.attributes['error.type']
    END AS error_type,
    try_cast(all_spans.attributes['process.exit.code'] AS BIGINT) <> 0 AS failed_exit
  FROM all_spans
  SEMI JOIN stating USING (shape)
)

SELECT
  key,
  error_type
FROM stated
WHERE error_type IS NOT NULL OR coalesce(failed_exit, FALSE);
