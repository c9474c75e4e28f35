-- The failure modes that each attempt shows, with the first step that shows each.
--
-- Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9. An attempt may show
-- several, and one that succeeded may show some. Where calls were not recorded, only those count
-- that no further call can undo.
--
-- Reads:
--   attempts_with_unrecorded_calls
--   call_totals
--   calls
--   cascades
--   goal_drifts
--   loop_traps
--   premature_commitments
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and mode.
--   mode        VARCHAR  loop_trap | tool_hallucination | premature_commitment |
--                        cascading_error | goal_drift.
--   call_index  INTEGER  The first call that shows it; NULL if it is the answer.
--   step_index  INTEGER  Of that answer in the root trajectory; NULL if it is a call.
--   detail      VARCHAR  What it shows.
-- Order:
--   none
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
  NULL AS step_index,
  detail
FROM loop_traps
UNION ALL
SELECT
  hallucinations.attempt_id,
  'tool_hallucination' AS mode,
  hallucinations.call_index,
  NULL AS step_index,
  concat(
    coalesce(calls.tool_name, 'an unnamed tool'),
    if(
      coalesce(hallucinations.call_index = hallucinations.first_unoffered, FALSE),
      ' was not offered',
      ' was called with arguments that violate its schema'
    )
  ) AS detail
FROM hallucinations
INNER JOIN calls USING (attempt_id, call_index)
UNION ALL
SELECT
  attempt_id,
  'premature_commitment' AS mode,
  call_index,
  step_index,
  detail
FROM premature_commitments
WHERE
  detail IS NOT NULL
  AND attempt_id NOT IN (SELECT lacking.attempt_id FROM attempts_with_unrecorded_calls AS lacking)
UNION ALL
SELECT
  attempt_id,
  'cascading_error' AS mode,
  call_index,
  NULL AS step_index,
  detail
FROM cascades
WHERE
  detail IS NOT NULL
  AND attempt_id NOT IN (SELECT lacking.attempt_id FROM attempts_with_unrecorded_calls AS lacking)
UNION ALL
SELECT
  attempt_id,
  'goal_drift' AS mode,
  call_index,
  NULL AS step_index,
  detail
FROM goal_drifts
WHERE
  drifted
  AND attempt_id NOT IN (SELECT lacking.attempt_id FROM attempts_with_unrecorded_calls AS lacking);
