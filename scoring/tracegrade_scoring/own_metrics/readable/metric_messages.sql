-- Messages, observations and other steps of each attempt, as metrics of users' own read them:
-- `messages`.
--
-- These are all steps except tool calls, including those of sub-agents.
--
-- Reads:
--   attempt_members
--   steps
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id     VARCHAR  The root trajectory.
--   depth          INTEGER  Agents above the one whose step it is; 0 for the root's.
--   trajectory_id  VARCHAR  The trajectory of the step: the root or a sub-agent.
--   step_index     INTEGER  In that trajectory; one row for each of both.
--   turn           INTEGER  Of that trajectory, from 0; NULL if not known.
--   kind           VARCHAR  plan | thought | observation | message | answer | handoff.
--   role           VARCHAR  Role of the speaker; NULL if not known.
--   content        VARCHAR  Its text; NULL if it was not captured.
-- Order:
--   attempt_id, depth, trajectory_id, step_index
SELECT
  attempt_of.id AS attempt_id,
  attempt_members.depth,
  run_of.id AS trajectory_id,
  steps.step_index,
  steps.turn,
  steps.kind,
  steps.role,
  steps.content
FROM steps
INNER JOIN attempt_members ON steps.trajectory_id = attempt_members.trajectory_id
INNER JOIN trajectory_ids AS attempt_of ON attempt_members.attempt_id = attempt_of.trajectory_id
INNER JOIN trajectory_ids AS run_of ON steps.trajectory_id = run_of.trajectory_id
WHERE steps.kind <> 'tool_call'
ORDER BY attempt_id, attempt_members.depth, trajectory_id, steps.step_index;
