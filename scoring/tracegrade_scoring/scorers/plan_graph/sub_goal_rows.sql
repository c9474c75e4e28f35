-- The sub-goals of each attempt's task in the chosen variant, and whether their order was kept.
--
-- Unknown (NULL) is what content that was not captured decides. A prerequisite is met if it was
-- completed, or held before the first call and still did at the end.
-- Source: docs/metrics.md, sections 4.3 and 4.4.
--
-- Reads:
--   attempt_graph_faults
--   sub_goal_examples
--   sub_goal_results
--   sub_goal_verdicts
-- As:
--   view
-- Columns:
--   trajectory_id         INTEGER  The attempt; one row for each trajectory_id and sub_goal.
--   sub_goal              VARCHAR  A counted sub-goal of the chosen variant.
--   critical              BOOLEAN  The task cannot succeed without it.
--   weight                DOUBLE   Greater than 0.
--   attempted             BOOLEAN  At least one action served it; NULL if unknown.
--   completed             BOOLEAN  Attempted, and its criterion held at the end; NULL if unknown.
--   ever_completed        BOOLEAN  Attempted, and its criterion held from then on or later.
--   regressed             BOOLEAN  Ever completed, but not at the end; NULL if unknown.
--   deps                  VARCHAR[]  Its direct prerequisites, sorted; empty if it has none.
--                                    NULL, as the next three, where a graph has a fault.
--   deps_met              BOOLEAN  Its direct prerequisites were met; true if it has none.
--   all_deps_met          BOOLEAN  All of its prerequisites were met; true if it has none.
--   dependency_violation  BOOLEAN  First completed before a direct prerequisite was.
--   attribution           VARCHAR  span | rule | verdict (that left one of several) |
--                                  ambiguous (all of its calls serve others too). NULL if not
--                                  attempted.
--   completion_source     VARCHAR  rule (its criterion) | status (of a call that serves it) |
--                                  judge (a verdict).
--   verdicts_disagree     BOOLEAN  Verdicts of the rank that decides it said yes and no.
--   first_completed       INTEGER  Call after which it was first completed, from 0; the number of
--                                  calls: at the end. NULL if never or unknown.
--   pre_satisfied         BOOLEAN  Its criterion held before the first call.
--   dependent             BOOLEAN  It has a prerequisite and was once completed.
--   position              INTEGER  Its position in the task file, from 0.
-- Order:
--   none
WITH disagreements AS (
  SELECT
    attempt_id,
    sub_goal
  FROM sub_goal_verdicts
  WHERE disagree
)

SELECT
  sub_goal_examples.attempt_id AS trajectory_id,
  sub_goal_results.sub_goal,
  sub_goal_results.critical,
  sub_goal_results.weight,
  sub_goal_results.attempted,
  sub_goal_results.completed,
  sub_goal_results.ever_completed,
  sub_goal_results.regressed,
  if(faults.fault IS NULL, sub_goal_results.deps, NULL) AS deps,
  if(faults.fault IS NULL, sub_goal_results.deps_met, NULL) AS deps_met,
  if(faults.fault IS NULL, sub_goal_results.all_deps_met, NULL) AS all_deps_met,
  if(faults.fault IS NULL, sub_goal_results.dependency_violation, NULL) AS dependency_violation,
  sub_goal_results.attribution,
  sub_goal_results.completion_source,
  sub_goal_results.completion_source = 'judge' AND disagreements.attempt_id IS NOT NULL
    AS verdicts_disagree,
  sub_goal_results.first_completed,
  sub_goal_results.pre_satisfied,
  sub_goal_results.dependent,
  sub_goal_results.position
FROM sub_goal_examples
INNER JOIN sub_goal_results USING (example)
LEFT JOIN attempt_graph_faults AS faults USING (attempt_id)
LEFT JOIN disagreements USING (attempt_id, sub_goal);
