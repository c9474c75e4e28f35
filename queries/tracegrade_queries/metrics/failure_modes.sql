-- The failure modes that each attempt shows, with the first call that shows each.
--
-- Source: Harness, "Failure-mode taxonomy"; metrics.md, section 9. An attempt may show several,
-- and one that succeeded may show some.
--
-- Reads:
--   call_totals
--   calls
--   loop_traps
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt_id and mode.
--   mode        VARCHAR  loop_trap | tool_hallucination.
--   call_index  INTEGER  The first call that shows it; NULL if it is the final answer.
--   detail      VARCHAR  What it shows.
-- Order:
--   attempt_id, mode
WITH hallucinations AS (
  SELECT
    attempt_id,
    least(min(first_unoffered), min(first_invalid)) AS call_index,
    min(first_unoffered) AS first_unoffered
  FROM call_totals
  GROUP BY attempt_id
  HAVING call_index IS NOT NULL
)

SELECT
  attempt_id,
  'loop_trap' AS mode,
  call_index,
  detail
FROM loop_traps
UNION ALL
SELECT
  attempt_id,
  'tool_hallucination' AS mode,
  call_index,
  concat(
    coalesce(calls.tool_name, 'a tool without a name'),
    if(
      coalesce(hallucinations.call_index = hallucinations.first_unoffered, FALSE),
      ' was not offered',
      ' got arguments that break its schema'
    )
  ) AS detail
FROM hallucinations
INNER JOIN calls USING (attempt_id, call_index)
ORDER BY attempt_id, mode;
