-- The sub-goals of one trajectory's task, and how far it got with each.
--
-- Reads:
--   sub_goals
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   sub_goal              VARCHAR    One row each.
--   critical              BOOLEAN    The task cannot succeed without it.
--   deps                  VARCHAR[]  Its direct prerequisites, sorted.
--   attempted             BOOLEAN    NULL if unknown.
--   completed             BOOLEAN    NULL if unknown.
--   regressed             BOOLEAN    NULL if unknown.
--   dependency_violation  BOOLEAN    First completed before a prerequisite was.
-- Order:
--   sub_goal
SELECT
  sub_goal,
  critical,
  coalesce(deps, []) AS deps,
  attempted,
  completed,
  regressed,
  dependency_violation
FROM sub_goals
WHERE date = $date AND trajectory_id = $trajectory_id
ORDER BY sub_goal;
