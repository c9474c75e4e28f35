-- Critical sub-goals that attempts skipped, or tried and did not complete.
--
-- Source: docs/metrics.md, section 9.6.
--
-- Reads:
--   sub_goal_rows
-- Needs:
--   sub_goal_rows WHERE critical
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Precedence of the kind, from the first.
--   kind                VARCHAR  skipped_goal | unfinished_goal.
--   object              VARCHAR  The sub-goal.
--   sentence            VARCHAR  Outcome of the sub-goal.
--   step_trajectory_id  INTEGER  NULL.
--   step_index          INTEGER  NULL.
--   span_id             VARCHAR  NULL.
--   only_reads          BOOLEAN  FALSE.
--   position            INTEGER  Its position in the task file.
--   source              VARCHAR  static | judge: the source that says whether it was completed.
-- Order:
--   none
SELECT
  trajectory_id AS attempt_id,
  if(attempted, 18, 17) AS precedence,
  if(attempted, 'unfinished_goal', 'skipped_goal') AS kind,
  sub_goal AS object,
  if(
    attempted,
    concat('critical sub-goal ', clipped(sub_goal, 60), ' was tried, but not completed'),
    concat('skipped critical sub-goal ', clipped(sub_goal, 60))
  ) AS sentence,
  NULL::INTEGER AS step_trajectory_id,
  NULL::INTEGER AS step_index,
  NULL::VARCHAR AS span_id,
  FALSE AS only_reads,
  position,
  if(completion_source = 'judge', 'judge', 'static') AS source
FROM sub_goal_rows
WHERE critical AND completed IS FALSE AND attempted IS NOT NULL AND NOT pre_satisfied;
