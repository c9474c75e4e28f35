-- The sub-goals of a run's task with what each depends on, as a graph is drawn of them.
--
-- Reads:
--   sub_goals
-- Parameters:
--   $trajectory_id  VARCHAR  The run.
--   $date           DATE     The date of its trace, in whose files alone they are looked for.
-- Columns:
--   task_id     VARCHAR    The task.
--   sub_goal    VARCHAR    One row each; those of which it is not known whether they were
--                          attempted are left out.
--   critical    BOOLEAN    The task cannot succeed without it.
--   deps        VARCHAR[]  Its direct prerequisites, sorted.
--   attempted   BOOLEAN    At least one call served it.
--   completed   BOOLEAN    Its criterion held at the end.
--   regressed   BOOLEAN    It held once, but not at the end.
--   violation   BOOLEAN    It was first completed before a prerequisite was.
-- Order:
--   sub_goal
SELECT
  task_id,
  sub_goal,
  coalesce(critical, FALSE) AS critical,
  coalesce(deps, []) AS deps,
  attempted,
  coalesce(completed, FALSE) AS completed,
  coalesce(regressed, FALSE) AS regressed,
  coalesce(dependency_violation, FALSE) AS violation
FROM sub_goals
WHERE date = $date AND trajectory_id = $trajectory_id AND attempted IS NOT NULL
ORDER BY sub_goal;
