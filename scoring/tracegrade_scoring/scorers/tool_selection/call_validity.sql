-- Whether the arguments of each call satisfy the schema of its tool.
--
-- Source: docs/metrics.md, sections 0.5 and 1.3.
--
-- Reads:
--   validated_arguments
-- As:
--   view
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and call_index with a usable schema.
--   call_index  INTEGER  The call.
--   valid       BOOLEAN  NULL if the arguments were not captured.
--   message     VARCHAR  What is wrong with them; NULL if nothing is known to be.
-- Order:
--   attempt_id, call_index
SELECT
  attempt_id,
  call_index,
  if(content_missing, NULL, message IS NULL) AS valid,
  if(content_missing, NULL, message) AS message
FROM validated_arguments
WHERE
  usable
  OR message IS NOT NULL
ORDER BY attempt_id, call_index;
