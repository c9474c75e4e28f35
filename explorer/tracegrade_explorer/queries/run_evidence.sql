-- The steps that scores of a run were counted from: decision points, failed calls, failure modes.
--
-- A step may be one of a sub-agent: its index counts in that run.
--
-- Reads:
--   decisions
--   failed_calls
--   failures
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace, in whose files alone they are looked for.
-- Columns:
--   about               VARCHAR  decision | failed_call | a failure mode.
--   step_trajectory_id  VARCHAR  Run whose step it is: this, or a sub-agent's; NULL without one.
--   step_index          INTEGER  Step of that run; NULL where a call was expected and not made.
--   good                BOOLEAN  Whether it was right, or recovered; NULL if not known, or a mode.
-- Order:
--   about, steps of the run itself first, step_trajectory_id, step_index, good
SELECT
  about,
  if(step_index IS NULL, NULL, coalesce(step_trajectory_id, $trajectory_id))
    AS step_trajectory_id,
  step_index,
  good
FROM (
  SELECT
    'decision' AS about,
    step_trajectory_id,
    step_index,
    correct AS good
  FROM decisions
  WHERE date = $date AND trajectory_id = $trajectory_id AND counted
  UNION ALL
  SELECT
    'failed_call' AS about,
    step_trajectory_id,
    step_index,
    outcome IN ('recovered', 'retried') AS good
  FROM failed_calls
  WHERE date = $date AND trajectory_id = $trajectory_id
  UNION ALL
  SELECT
    mode AS about,
    step_trajectory_id,
    step_index,
    NULL::BOOLEAN AS good
  FROM failures
  WHERE date = $date AND trajectory_id = $trajectory_id
) AS counted_from
ORDER BY
  about,
  coalesce(step_trajectory_id, $trajectory_id) <> $trajectory_id,
  step_trajectory_id,
  step_index,
  good;
