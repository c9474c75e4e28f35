-- Whether a tool takes no arguments by its schema: an object without any parameter.
--
-- False or NULL for a schema that refers to others or allows any argument, as a bare `type:
-- object` does.
CREATE OR REPLACE TEMP MACRO takes_nothing(SCHEMA) AS
json_extract_string(schema, '$.type') = 'object'
AND (
  json_extract(schema, '$.properties')::VARCHAR = '{}'
  OR (
    json_extract(schema, '$.properties') IS NULL
    AND json_extract(schema, '$.additionalProperties')::VARCHAR = 'false'
  )
)
AND coalesce(json_extract(schema, '$.required')::VARCHAR, '[]') IN ('[]', 'null')
AND coalesce(json_extract(schema, '$.additionalProperties')::VARCHAR, 'false') IN ('false', 'null')
AND NOT list_has_any(
  json_keys(schema), ['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties', 'minProperties']
);
