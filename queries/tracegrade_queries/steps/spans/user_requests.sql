-- Spans of calls that the user requested by their own attributes, such as tau2-bench's user tools.
--
-- Reads:
--   all_spans
--   shapes
-- Needs:
--   shapes WHERE regexp_matches(array_to_string(names, ' '), '(^|[ .])requestor( |$)')
-- Columns:
--   key  BIGINT  One row each.
-- Order:
--   none
WITH named AS (
  SELECT
    shape,
    unnest(names) AS name
  FROM shapes
)

SELECT DISTINCT all_spans.key
FROM all_spans
INNER JOIN named USING (shape)
WHERE
  regexp_matches(named.name, '(^|\.)requestor$')
  AND all_spans.attributes[named.name] = 'user';
