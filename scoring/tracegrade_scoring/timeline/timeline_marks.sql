-- Findings of scoring in one trajectory: wrong decisions, failed calls, failure modes.
--
-- Findings of an attempt include those at steps of its sub-agents. Findings of a sub-agent are
-- those at its own steps.
--
-- Reads:
--   decisions
--   failed_calls
--   failures
--   trajectories
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace; only files of that date are read.
-- Columns:
--   step_index          INTEGER    NULL if it belongs to no step, such as a call that was not
--                                  made.
--   step_trajectory_id  VARCHAR    Trajectory of the step: its own, or a sub-agent's; NULL without
--                                  one.
--   step_agent          VARCHAR    Name of that sub-agent; NULL if it is its own, or has none.
--   what                VARCHAR    wrong_decision | missed_decision | failed_call | the failure
--                                  mode.
--   name                VARCHAR    The task's name for the decision; the source that says a call
--                                  failed.
--   picked_tool         VARCHAR    Picked tool of a decision.
--   expected_tool       VARCHAR    Expected tool of a decision.
--   criteria            VARCHAR[]  Criteria of a decision that failed.
--   detail              VARCHAR    The reason in a sentence; the outcome of a failed call; NULL if
--                                  not known.
--   position            BIGINT     Order among those of one step.
-- Order:
--   those of its own steps first, step_trajectory_id, step_index (NULL last), position, what
WITH marks AS (
  SELECT
    step_index,
    trajectory_id,
    step_trajectory_id,
    CASE WHEN missed THEN 'missed_decision' ELSE 'wrong_decision' END AS what,
    decision AS name,
    picked_tool,
    expected_tool,
    coalesce(failed_criteria, []) AS criteria,
    reason AS detail,
    decision_index::BIGINT AS position
  FROM decisions
  WHERE
    date = $date
    AND (trajectory_id = $trajectory_id OR step_trajectory_id = $trajectory_id)
    AND counted
    AND NOT correct
  UNION ALL
  SELECT
    step_index,
    trajectory_id,
    step_trajectory_id,
    mode AS what,
    NULL AS name,
    NULL AS picked_tool,
    NULL AS expected_tool,
    [] AS criteria,
    detail,
    -1 AS position
  FROM failures
  WHERE
    date = $date
    AND (trajectory_id = $trajectory_id OR step_trajectory_id = $trajectory_id)
    AND mode <> 'unclassified'
  UNION ALL
  SELECT
    step_index,
    trajectory_id,
    step_trajectory_id,
    'failed_call' AS what,
    failed_by AS name,
    NULL AS picked_tool,
    NULL AS expected_tool,
    [] AS criteria,
    outcome AS detail,
    -2 AS position
  FROM failed_calls
  WHERE
    date = $date AND (trajectory_id = $trajectory_id OR step_trajectory_id = $trajectory_id)
),

placed AS (
  SELECT
    * REPLACE (
      if(step_index IS NULL, NULL, coalesce(step_trajectory_id, trajectory_id))
        AS step_trajectory_id
    ),
    coalesce(step_index IS NULL OR step_trajectory_id = $trajectory_id, TRUE) AS own
  FROM marks
),

agents AS (
  SELECT
    trajectory_id AS step_trajectory_id,
    agent_name
  FROM trajectories
  WHERE date = $date AND trajectory_id <> $trajectory_id
)

SELECT
  placed.step_index,
  placed.step_trajectory_id,
  agents.agent_name AS step_agent,
  placed.what,
  placed.name,
  placed.picked_tool,
  placed.expected_tool,
  placed.criteria,
  placed.detail,
  placed.position
FROM placed
LEFT JOIN agents USING (step_trajectory_id)
ORDER BY
  placed.own DESC,
  placed.step_trajectory_id ASC,
  placed.step_index ASC NULLS LAST,
  placed.position ASC,
  placed.what ASC;
