-- Prerequisites of each sub-goal of the chosen variant of an example, and until when they are
-- open.
--
-- Moments are those of sub_goal_evidence: a prerequisite is open at a call unless it was completed
-- at an earlier moment, or held before the first call.
--
-- Reads:
--   graph_prerequisites
--   sub_goal_states
--   sub_goal_variants
-- Needs:
--   graph_prerequisites
-- Columns:
--   example       INTEGER  One row for each example, sub_goal and prerequisite.
--   sub_goal      VARCHAR  A counted sub-goal.
--   prerequisite  VARCHAR  A sub-goal that must be completed before it, directly or not.
--   open_until    INTEGER  Open at calls up to this one; -1 for none, NULL if not known.
-- Order:
--   none
SELECT
  states.example,
  needed.sub_goal,
  needed.prerequisite,
  CASE
    WHEN states.pre_satisfied THEN -1
    WHEN NOT states.ever_completed THEN 2147483647
    -- Judged only at the end: it is known that it was completed, but not when.
    WHEN states.ever_completed AND NOT states.by_step THEN -1
    WHEN states.first_completed IS NOT NULL THEN states.first_completed
  END AS open_until
FROM sub_goal_variants
INNER JOIN graph_prerequisites AS needed USING (task_id, variant)
INNER JOIN sub_goal_states AS states
  ON
    sub_goal_variants.example = states.example
    AND needed.prerequisite = states.sub_goal;
