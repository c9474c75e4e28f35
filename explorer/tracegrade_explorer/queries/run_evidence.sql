-- The steps that scores of a run were counted from: decision points, failed calls, failure modes.
--
-- Reads:
--   decisions
--   failed_calls
--   failures
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace, in whose files alone they are looked for.
-- Columns:
--   about       VARCHAR  decision | failed_call | a failure mode.
--   step_index  INTEGER  Step of the run; NULL where a call was expected and not made.
--   good        BOOLEAN  Whether it was right, or recovered; NULL if unknown, and of modes.
-- Order:
--   about, step_index, good
SELECT
  'decision' AS about,
  step_index,
  correct AS good
FROM decisions
WHERE date = $date AND trajectory_id = $trajectory_id AND counted
UNION ALL
SELECT
  'failed_call' AS about,
  step_index,
  outcome IN ('recovered', 'retried') AS good
FROM failed_calls
WHERE date = $date AND trajectory_id = $trajectory_id AND step_trajectory_id = $trajectory_id
UNION ALL
SELECT
  mode AS about,
  step_index,
  NULL::BOOLEAN AS good
FROM failures
WHERE
  date = $date
  AND trajectory_id = $trajectory_id
  AND coalesce(step_trajectory_id, trajectory_id) = $trajectory_id
ORDER BY about, step_index, good;
