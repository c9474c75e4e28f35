-- The attempts with sub-goals and known variants, each with an example that has the same evidence.
--
-- Few attempts differ in their evidence. Two are equal if the same calls at the same places serve
-- the same sub-goals, all evidence is the same, and calls were not recorded in both or in neither.
-- Later relations compute results once, for the example.
--
-- Reads:
--   attempts
--   attempts_with_unrecorded_answers
--   attempts_with_unrecorded_calls
--   calls
--   criterion_evidence
--   graph_nodes
--   judged_sub_goals
--   sub_goal_attribution
--   sub_goal_verdicts
-- Needs:
--   graph_nodes
-- Columns:
--   attempt_id  INTEGER  One row each.
--   task_id     VARCHAR  The task.
--   example     INTEGER  The first of the attempts of the same task that show the same.
-- Order:
--   none
WITH graphs AS (
  SELECT
    task_id,
    bool_or(counted) AS counted,
    bool_or(served_by_answer) AS asks_answer
  FROM graph_nodes
  GROUP BY task_id
),

described AS (
  SELECT
    attempts.attempt_id,
    attempts.task_id,
    attempts.final_answer,
    graphs.asks_answer,
    attempts_with_unrecorded_calls.attempt_id IS NOT NULL AS calls_unrecorded,
    graphs.asks_answer AND silent.attempt_id IS NOT NULL AS answer_unrecorded
  FROM attempts
  INNER JOIN graphs USING (task_id)
  LEFT JOIN judged_sub_goals USING (attempt_id)
  LEFT JOIN attempts_with_unrecorded_calls USING (attempt_id)
  LEFT JOIN attempts_with_unrecorded_answers AS silent USING (attempt_id)
  WHERE
    graphs.counted
    OR judged_sub_goals.attempt_id IS NOT NULL
),

-- A call that serves a sub-goal is a number, in which each fact has its own digits.
serving AS (
  SELECT
    attempt_id,
    list_sort(
      list(
        (call_index::BIGINT << 32)
        + (position::BIGINT << 4)
        + 8 * (attribution = 'span')::BIGINT
        + 4 * (attribution = 'verdict')::BIGINT
        + 2 * certain::BIGINT
        + failed::BIGINT
      )
    ) AS calls
  FROM sub_goal_attribution
  GROUP BY attempt_id
),

conditions AS (
  SELECT
    attempt_id,
    list_sort(list((sub_goal, condition, moment, holds))) AS evidence
  FROM criterion_evidence
  WHERE sub_goal <> ''
  GROUP BY attempt_id
),

verdicts AS (
  SELECT
    attempt_id,
    list_sort(list((sub_goal, holds))) AS verdicts
  FROM sub_goal_verdicts
  GROUP BY attempt_id
),

-- Answers and verdicts are known at the end, so the moment of the end matters for them.
ends AS (
  SELECT
    described.attempt_id,
    any_value(described.final_answer IS NOT NULL) AS answered,
    count(calls.call_index) AS moment
  FROM described
  LEFT JOIN calls USING (attempt_id)
  WHERE
    described.asks_answer
    OR described.attempt_id IN (SELECT verdicts.attempt_id FROM verdicts)
  GROUP BY described.attempt_id
),

alike AS (
  SELECT
    described.task_id,
    min(described.attempt_id) AS example,
    list(described.attempt_id) AS attempt_ids
  FROM described
  LEFT JOIN serving USING (attempt_id)
  LEFT JOIN conditions USING (attempt_id)
  LEFT JOIN verdicts USING (attempt_id)
  LEFT JOIN ends USING (attempt_id)
  GROUP BY
    described.task_id,
    described.calls_unrecorded,
    described.answer_unrecorded,
    serving.calls,
    conditions.evidence,
    verdicts.verdicts,
    ends.answered,
    ends.moment
)

SELECT
  unnest(attempt_ids) AS attempt_id,
  task_id,
  example
FROM alike;
