-- The steps that scores of a run were counted from, and those that users' own metrics name.
--
-- A step may be one of a sub-agent: its index counts in that run.
--
-- Reads:
--   custom_scores
--   decisions
--   failed_calls
--   failures
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace; only this date's files are read.
-- Columns:
--   about               VARCHAR  decision | failed_call | a failure mode; NULL of own metrics.
--   own_metric          VARCHAR  Metric of a user's own; NULL of others.
--   step_trajectory_id  VARCHAR  Run whose step it is: this, or a sub-agent's; NULL without one.
--   step_index          INTEGER  Step of that run; NULL where a call was expected and not made.
--   good                BOOLEAN  Whether it was right, or recovered; NULL if not known, or others.
--   note                VARCHAR  An own metric's note on the step; NULL without one.
-- Order:
--   about, own_metric, steps of the run itself first, step_trajectory_id, step_index, good, note
SELECT
  about,
  own_metric,
  if(step_index IS NULL, NULL, coalesce(step_trajectory_id, $trajectory_id))
    AS step_trajectory_id,
  step_index,
  good,
  note
FROM (
  SELECT
    'decision' AS about,
    NULL::VARCHAR AS own_metric,
    step_trajectory_id,
    step_index,
    correct AS good,
    NULL::VARCHAR AS note
  FROM decisions
  WHERE date = $date AND trajectory_id = $trajectory_id AND counted
  UNION ALL
  SELECT
    'failed_call' AS about,
    NULL::VARCHAR AS own_metric,
    step_trajectory_id,
    step_index,
    outcome IN ('recovered', 'retried') AS good,
    NULL::VARCHAR AS note
  FROM failed_calls
  WHERE date = $date AND trajectory_id = $trajectory_id
  UNION ALL
  SELECT
    mode AS about,
    NULL::VARCHAR AS own_metric,
    step_trajectory_id,
    step_index,
    NULL::BOOLEAN AS good,
    NULL::VARCHAR AS note
  FROM failures
  WHERE date = $date AND trajectory_id = $trajectory_id
  UNION ALL
  SELECT
    NULL::VARCHAR AS about,
    metric AS own_metric,
    named['trajectory_id'] AS step_trajectory_id,
    named['step_index'] AS step_index,
    NULL::BOOLEAN AS good,
    left(named['note'], 400) AS note
  FROM (
    SELECT
      metric,
      unnest(evidence) AS named
    FROM custom_scores
    WHERE date = $date AND trajectory_id = $trajectory_id
  ) AS own_evidence
) AS counted_from
ORDER BY
  about,
  own_metric,
  coalesce(step_trajectory_id, $trajectory_id) <> $trajectory_id,
  step_trajectory_id,
  step_index,
  good,
  note;
