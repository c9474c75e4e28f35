-- Whether the arguments of each call satisfy the schema of its tool.
--
-- Source: metrics.md, section 1 (`parameter_validity`) and rule 0.5 (what was not captured is not
-- invalid).
--
-- Reads:
--   call_schemas
--   calls
--   validated_arguments
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and call_index with a usable schema.
--   call_index  INTEGER  The call.
--   valid       BOOLEAN  NULL if the arguments were not captured.
--   message     VARCHAR  What is wrong with them; NULL if nothing is known to be.
-- Order:
--   attempt_id, call_index
SELECT
  call_schemas.attempt_id,
  call_schemas.call_index,
  CASE
    WHEN calls.content_missing THEN NULL
    WHEN NOT calls.parsed THEN FALSE
    ELSE validated.valid
  END AS valid,
  CASE
    WHEN calls.content_missing THEN NULL
    WHEN NOT calls.parsed THEN 'they are no JSON'
    ELSE validated.message
  END AS message
FROM call_schemas
INNER JOIN calls USING (attempt_id, call_index)
LEFT JOIN validated_arguments AS validated
  ON
    call_schemas.schema = validated.schema
    AND call_schemas.arguments = validated.arguments
WHERE
  calls.content_missing
  OR NOT calls.parsed
  OR validated.valid IS NOT NULL
ORDER BY call_schemas.attempt_id, call_schemas.call_index;
