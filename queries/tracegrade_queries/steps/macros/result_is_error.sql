-- Whether a tool's result says that the call failed (docs/metrics.md, section 0.7).
--
-- It does if it is an object with `isError: true` or a non-empty `error`, or a text that begins
-- with error, exception or traceback in any case, after blanks; a JSON string, which may be cut,
-- is a text too. False for NULL.
CREATE OR REPLACE TEMP MACRO result_is_error(RESULT) AS
coalesce(
  regexp_matches(result, '^\s*(error|exception|traceback)', 'i')
  OR regexp_matches(
    result, '^\s*"(\s|\\[nrt])*(error|exception|traceback)([^"\\]|\\.)*\\?("\s*)?$', 'is'
  )
  OR (
    regexp_matches(result, '"(isError|error)"')
    AND (
      (try_cast(result AS JSON) -> '$.isError')::VARCHAR = 'true'
      OR coalesce((try_cast(result AS JSON) -> '$.error')::VARCHAR, 'null')
      NOT IN ('null', '""', '{}', '[]', 'false', '0', '0.0', '-0.0')
    )
  ),
  false
);
