-- What scoring found at the steps of one trajectory: wrong decisions, failed calls, failure modes.
--
-- Reads:
--   decisions
--   failed_calls
--   failures
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   step_index     INTEGER    NULL where it belongs to no step: a call that was not made.
--   what           VARCHAR    wrong_decision | missed_decision | failed_call | a failure mode.
--   name           VARCHAR    The task's name for the decision; what says that a call failed.
--   picked_tool    VARCHAR    Of a decision.
--   expected_tool  VARCHAR    Of a decision.
--   criteria       VARCHAR[]  Of a decision: those that failed.
--   detail         VARCHAR    Why, in a sentence; of a failed call its outcome; NULL if not known.
--   place          BIGINT     Order among those of one step.
-- Order:
--   step_index (NULL last), place, what
WITH marks AS (
  SELECT
    step_index,
    CASE WHEN missed THEN 'missed_decision' ELSE 'wrong_decision' END AS what,
    decision AS name,
    picked_tool,
    expected_tool,
    coalesce(failed_criteria, []) AS criteria,
    reason AS detail,
    decision_index::BIGINT AS place
  FROM decisions
  WHERE date = $date AND trajectory_id = $trajectory_id AND counted AND NOT correct
  UNION ALL
  SELECT
    step_index,
    mode AS what,
    NULL AS name,
    NULL AS picked_tool,
    NULL AS expected_tool,
    [] AS criteria,
    detail,
    -1 AS place
  FROM failures
  WHERE
    date = $date
    AND coalesce(step_trajectory_id, trajectory_id) = $trajectory_id
    AND step_index IS NOT NULL
  UNION ALL
  SELECT
    step_index,
    'failed_call' AS what,
    failed_by AS name,
    NULL AS picked_tool,
    NULL AS expected_tool,
    [] AS criteria,
    outcome AS detail,
    -2 AS place
  FROM failed_calls
  WHERE date = $date AND step_trajectory_id = $trajectory_id
)

SELECT
  step_index,
  what,
  name,
  picked_tool,
  expected_tool,
  criteria,
  detail,
  place
FROM marks
ORDER BY step_index NULLS LAST, place, what;
