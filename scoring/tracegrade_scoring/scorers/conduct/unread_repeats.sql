-- Attempts that may have repeated calls, because content was not captured.
--
-- Source: docs/metrics.md, section 0.5.
--
-- Reads:
--   call_repeats
--   calls
--   reworded_loops
-- Columns:
--   attempt_id  INTEGER  One row each.
--   twice       BOOLEAN  Two calls of a tool may be equal.
--   thrice      BOOLEAN  Three calls of a tool by one trajectory may be equal, with their results
--                        and nothing new between them, or may mean the same in other words.
-- Order:
--   none
WITH hidden AS (
  SELECT DISTINCT
    attempt_id,
    tool_name
  FROM calls
  WHERE content_missing
),

uses AS (
  SELECT
    calls.attempt_id,
    calls.tool_name,
    calls.trajectory_id,
    count(*) AS calls
  FROM calls
  SEMI JOIN hidden
    ON calls.attempt_id = hidden.attempt_id AND calls.tool_name = hidden.tool_name
  GROUP BY calls.attempt_id, calls.tool_name, calls.trajectory_id
),

tools AS (
  SELECT
    attempt_id,
    sum(calls) >= 2 AS twice,
    max(calls) >= 3 AS thrice
  FROM uses
  GROUP BY attempt_id, tool_name
  UNION ALL
  SELECT
    attempt_id,
    FALSE AS twice,
    TRUE AS thrice
  FROM call_repeats
  GROUP BY attempt_id, trajectory_id, identity
  HAVING count(*) >= 3 AND count(*) > count(result)
  UNION ALL
  SELECT
    attempt_id,
    FALSE AS twice,
    TRUE AS thrice
  FROM call_repeats
  WHERE finds_unsure
  GROUP BY attempt_id, trajectory_id, identity, result
  HAVING count(*) >= 3
  UNION ALL
  SELECT
    attempt_id,
    FALSE AS twice,
    TRUE AS thrice
  FROM reworded_loops
  WHERE detail IS NULL
)

SELECT
  attempt_id,
  bool_or(twice) AS twice,
  bool_or(thrice) AS thrice
FROM tools
GROUP BY attempt_id;
