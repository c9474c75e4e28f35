-- Whether a tool's result says that the call failed (docs/metrics.md, section 0.7).
--
-- It does if it is an object with `isError: true` or a non-empty `error`, or a text that begins
-- with error, exception or traceback in any case. False for NULL.
CREATE OR REPLACE TEMP MACRO result_is_error(RESULT) AS
coalesce(
  regexp_matches(result, '^\s*"?(error|exception|traceback)', 'i')
  OR (
    regexp_matches(result, '"(isError|error)"')
    AND (
      try_cast(result AS JSON) ->> '$.isError' = 'true'
      OR coalesce(try_cast(result AS JSON) ->> '$.error', '') NOT IN ('', '{}', '[]', 'false', '0')
    )
  ),
  false
);
