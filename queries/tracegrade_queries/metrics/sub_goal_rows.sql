-- The sub-goals of each attempt's task in the chosen variant, and whether their order was kept.
--
-- Unknown (NULL) is what content that was not captured decides. A prerequisite is met if it was
-- completed, or held before the first call and still did at the end.
-- Source: metrics.md, section 4, dependencies and alternatives.
--
-- Reads:
--   attempts
--   sub_goal_attribution
--   sub_goal_examples
--   sub_goal_results
--   sub_goal_states
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
--   deps_met              BOOLEAN  Its direct prerequisites were met; true if it has none.
--   all_deps_met          BOOLEAN  All of its prerequisites were met; true if it has none.
--   dependency_violation  BOOLEAN  First completed before a direct prerequisite was.
--   attribution           VARCHAR  span | rule | ambiguous (all of its calls serve others too).
--                                  NULL if not attempted.
--   completion_source     VARCHAR  rule (its criterion) | status (of a call that serves it) |
--                                  judge (a verdict).
--   first_completed       INTEGER  Call after which it was first completed, from 0; the number of
--                                  calls: at the end. NULL if never or unknown.
--   pre_satisfied         BOOLEAN  Its criterion held before the first call.
--   dependent             BOOLEAN  It has a prerequisite and was once completed.
--   place                 INTEGER  Its place in the task file, from 0.
--   task_id               VARCHAR  The task.
--   release               VARCHAR  NULL if not sent.
-- Order:
--   none
WITH chosen AS (
  SELECT
    sub_goal_examples.attempt_id,
    sub_goal_examples.task_id,
    sub_goal_results.* EXCLUDE (example)
  FROM sub_goal_examples
  INNER JOIN sub_goal_results USING (example)
),

serving AS (
  SELECT
    chosen.attempt_id,
    chosen.sub_goal,
    sub_goal_attribution.call_index,
    sub_goal_attribution.attribution
  FROM chosen
  INNER JOIN sub_goal_attribution USING (attempt_id, sub_goal)
),

-- A call is ambiguous if rules give it to several sub-goals of the variant.
shared_calls AS (
  SELECT
    attempt_id,
    call_index
  FROM serving
  GROUP BY attempt_id, call_index
  HAVING count(*) > 1
),

attributions AS (
  SELECT
    serving.attempt_id,
    serving.sub_goal,
    CASE
      WHEN bool_or(serving.attribution = 'span') THEN 'span'
      WHEN bool_or(shared_calls.attempt_id IS NULL) THEN 'rule'
      ELSE 'ambiguous'
    END AS attribution
  FROM serving
  LEFT JOIN shared_calls USING (attempt_id, call_index)
  GROUP BY serving.attempt_id, serving.sub_goal
)

SELECT  -- noqa: ST06
  chosen.attempt_id AS trajectory_id,
  chosen.sub_goal,
  chosen.critical,
  chosen.weight,
  chosen.attempted,
  chosen.completed,
  chosen.ever_completed,
  chosen.regressed,
  chosen.deps,
  chosen.deps_met,
  chosen.all_deps_met,
  chosen.dependency_violation,
  CASE WHEN chosen.attempted THEN coalesce(attributions.attribution, 'rule') END AS attribution,
  chosen.completion_source,
  sub_goal_states.first_completed,
  chosen.pre_satisfied,
  chosen.dependent,
  chosen.place,
  chosen.task_id,
  attempts.release
FROM chosen
INNER JOIN sub_goal_states USING (attempt_id, sub_goal)
INNER JOIN attempts USING (attempt_id)
LEFT JOIN attributions USING (attempt_id, sub_goal);
