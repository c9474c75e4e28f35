-- Distinct texts of arguments, from spans and messages.
--
-- Reads:
--   message_parts
--   operations
--   retrieval_spans
-- Columns:
--   text  VARCHAR  One row each.
-- Order:
--   none
SELECT arguments AS text
FROM operations
WHERE arguments IS NOT NULL
UNION
SELECT arguments AS text
FROM message_parts
WHERE arguments IS NOT NULL
UNION
SELECT arguments AS text
FROM retrieval_spans
WHERE arguments IS NOT NULL;
