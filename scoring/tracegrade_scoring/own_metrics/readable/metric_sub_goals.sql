-- The sub-goals of each attempt's task, as metrics of users' own read them: `sub_goals`.
--
-- Reads:
--   sub_goal_rows
--   trajectory_ids
-- As:
--   view
-- Columns:
--   attempt_id            VARCHAR  The attempt; one row for each attempt_id and sub_goal.
--   sub_goal              VARCHAR  A counted sub-goal of the variant that is scored.
--   place                 INTEGER  Its place in the task file, from 0.
--   critical              BOOLEAN  The task cannot succeed without it.
--   weight                DOUBLE   Greater than 0.
--   attempted             BOOLEAN  At least one action served it; NULL if unknown.
--   completed             BOOLEAN  Attempted, and its criterion held at the end; NULL if unknown.
--   ever_completed        BOOLEAN  Attempted, and its criterion held from then on or later.
--   regressed             BOOLEAN  Ever completed, but not at the end; NULL if unknown.
--   deps                  VARCHAR[]  Its direct prerequisites, sorted; empty if it has none. NULL,
--                                    as the next two, where a graph has a fault.
--   deps_met              BOOLEAN  Its direct prerequisites were met; true if it has none.
--   dependency_violation  BOOLEAN  First completed before a direct prerequisite was.
--   first_completed       INTEGER  Call after which it was first completed, from 0; the number of
--                                  calls: at the end. NULL if never or unknown.
--   pre_satisfied         BOOLEAN  Its criterion held before the first call.
-- Order:
--   attempt_id, place
SELECT
  trajectory_ids.id AS attempt_id,
  sub_goal_rows.sub_goal,
  sub_goal_rows.position AS place,
  sub_goal_rows.critical,
  sub_goal_rows.weight,
  sub_goal_rows.attempted,
  sub_goal_rows.completed,
  sub_goal_rows.ever_completed,
  sub_goal_rows.regressed,
  sub_goal_rows.deps,
  sub_goal_rows.deps_met,
  sub_goal_rows.dependency_violation,
  sub_goal_rows.first_completed,
  sub_goal_rows.pre_satisfied
FROM sub_goal_rows
INNER JOIN trajectory_ids USING (trajectory_id)
ORDER BY attempt_id, place;
