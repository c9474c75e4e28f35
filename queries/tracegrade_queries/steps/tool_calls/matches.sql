-- Executions matched to requests: by call id, else by tool and arguments, else by tool.
--
-- Reads:
--   argument_matches
--   id_matches
--   name_matches
-- Columns:
--   request    BIGINT  One row each.
--   execution  BIGINT  Key in executions; one row each.
-- Order:
--   none
SELECT
  request,
  execution
FROM id_matches
UNION ALL
SELECT
  request,
  execution
FROM argument_matches
UNION ALL
SELECT
  request,
  execution
FROM name_matches;
