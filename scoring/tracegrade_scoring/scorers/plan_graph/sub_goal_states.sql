-- State of every sub-goal of each example's task: attempted, completed, when, lost again.
--
-- Moments are those of sub_goal_evidence. A value is unknown (NULL) if it depends on content that
-- was not captured, or on calls or an answer that were not recorded. A criterion that holds at the
-- end counts only if something was done for it. Source: [Plan graph], "Sub-goal completion as a
-- metric"; docs/metrics.md, section 4.1.
--
-- Reads:
--   attempts
--   attempts_with_unrecorded_answers
--   attempts_with_unrecorded_calls
--   calls
--   graph_nodes
--   sub_goal_attribution
--   sub_goal_evidence
--   sub_goal_examples
--   sub_goal_verdicts
-- Needs:
--   sub_goal_examples
-- Columns:
--   example          INTEGER  One row for each example and sub_goal.
--   task_id          VARCHAR  The task with the graph.
--   sub_goal         VARCHAR  A counted sub-goal.
--   position         INTEGER  Its position in the task file, from 0.
--   attempted        BOOLEAN  At least one action served it; NULL if unknown.
--   holds            BOOLEAN  Its criterion held at the end; NULL if unknown.
--   completed        BOOLEAN  Attempted, and its criterion held at the end; NULL if unknown.
--   ever_completed   BOOLEAN  Attempted, and its criterion held then or later; NULL if unknown.
--   regressed        BOOLEAN  Ever completed, but not at the end; NULL if unknown.
--   pre_satisfied    BOOLEAN  Its criterion held before the first call.
--   first_completed  INTEGER  First moment at which it was completed; NULL if never or unknown.
--   judged           BOOLEAN  A verdict decides whether it was completed.
--   by_step          BOOLEAN  There is evidence for each step, not only for the end.
-- Order:
--   none
WITH attempt_nodes AS (
  SELECT
    sub_goal_examples.example,
    sub_goal_examples.task_id,
    attempts.final_answer,
    graph_nodes.sub_goal,
    graph_nodes.position,
    graph_nodes.condition_count,
    graph_nodes.served_by_answer,
    graph_nodes.served_by_judge,
    graph_nodes.asks_judge
    OR (NOT graph_nodes.has_criterion AND sub_goal_verdicts.attempt_id IS NOT NULL) AS judged,
    graph_nodes.by_step,
    sub_goal_verdicts.holds AS verdict
  FROM sub_goal_examples
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graph_nodes ON sub_goal_examples.task_id = graph_nodes.task_id
  LEFT JOIN sub_goal_verdicts USING (attempt_id, sub_goal)
  WHERE
    sub_goal_examples.attempt_id = sub_goal_examples.example
    AND (graph_nodes.counted OR sub_goal_verdicts.attempt_id IS NOT NULL)
),

ends AS (
  SELECT
    sub_goal_examples.example,
    count(calls.call_index)::INTEGER AS moment
  FROM sub_goal_examples
  LEFT JOIN calls USING (attempt_id)
  WHERE sub_goal_examples.attempt_id = sub_goal_examples.example
  GROUP BY sub_goal_examples.example
),

served AS (
  SELECT
    attempt_id AS example,
    sub_goal,
    min(call_index) FILTER (WHERE certain) AS first_at
  FROM sub_goal_attribution
  WHERE attempt_id IN (SELECT sub_goal_examples.example FROM sub_goal_examples)
  GROUP BY attempt_id, sub_goal
),

-- An answer is an action too: it serves a sub-goal whose criterion asks for an answer and no call.
-- If a judge says that a sub-goal was completed, the steps that the judge saw are an action.
actions AS (
  SELECT
    attempt_nodes.*,
    CASE
      WHEN served.first_at IS NOT NULL THEN served.first_at
      WHEN attempt_nodes.served_by_answer AND attempt_nodes.final_answer IS NOT NULL
        THEN ends.moment
      WHEN attempt_nodes.judged AND attempt_nodes.verdict THEN ends.moment
    END AS first_attempted,
    served.example IS NOT NULL
    OR attempt_nodes.served_by_judge
    OR lacking.attempt_id IS NOT NULL
    OR (attempt_nodes.served_by_answer AND silent.attempt_id IS NOT NULL) AS may_be_served
  FROM attempt_nodes
  INNER JOIN ends USING (example)
  LEFT JOIN served USING (example, sub_goal)
  LEFT JOIN attempts_with_unrecorded_calls AS lacking ON attempt_nodes.example = lacking.attempt_id
  LEFT JOIN attempts_with_unrecorded_answers AS silent ON attempt_nodes.example = silent.attempt_id
),

-- A condition that is unsure holds in the hopeful reading alone.
changes AS (
  SELECT
    example,
    sub_goal,
    moment,
    coalesce(holds, FALSE)::INTEGER
    - coalesce(lag(coalesce(holds, FALSE)::INTEGER) OVER earlier, 0) AS surely,
    coalesce(holds, TRUE)::INTEGER
    - coalesce(lag(coalesce(holds, TRUE)::INTEGER) OVER earlier, 0) AS hopefully
  FROM sub_goal_evidence
  WINDOW earlier AS (PARTITION BY example, sub_goal, condition ORDER BY moment)
  UNION ALL
  SELECT
    example,
    sub_goal,
    first_attempted AS moment,
    0 AS surely,
    0 AS hopefully
  FROM actions
  WHERE first_attempted IS NOT NULL
),

-- The criterion holds when all of its conditions do.
timeline AS (
  SELECT
    changes.example,
    changes.sub_goal,
    changes.moment,
    sum(sum(changes.surely)) OVER so_far = any_value(actions.condition_count) AS surely,
    sum(sum(changes.hopefully)) OVER so_far = any_value(actions.condition_count) AS hopefully,
    changes.moment >= any_value(actions.first_attempted) AS was_attempted
  FROM changes
  INNER JOIN actions USING (example, sub_goal)
  GROUP BY changes.example, changes.sub_goal, changes.moment
  WINDOW so_far AS (
    PARTITION BY changes.example, changes.sub_goal
    ORDER BY changes.moment
  )
),

summaries AS (
  SELECT
    example,
    sub_goal,
    max_by(surely, moment) AS surely_at_end,
    max_by(hopefully, moment) AS hopefully_at_end,
    bool_or(hopefully AND coalesce(was_attempted, TRUE)) AS hopefully_ever,
    bool_or(surely AND moment = -1) AS pre_satisfied,
    min(moment) FILTER (WHERE surely AND was_attempted) AS first_completed
  FROM timeline
  GROUP BY example, sub_goal
),

judged AS (
  SELECT
    actions.*,
    summaries.first_completed,
    CASE
      WHEN actions.first_attempted IS NOT NULL THEN TRUE
      WHEN NOT actions.may_be_served THEN FALSE
    END AS attempted,
    CASE
      WHEN summaries.surely_at_end THEN TRUE
      WHEN NOT coalesce(summaries.hopefully_at_end, FALSE) THEN FALSE
    END AS holds,
    CASE
      WHEN summaries.first_completed IS NOT NULL THEN TRUE
      WHEN NOT coalesce(summaries.hopefully_ever, FALSE) THEN FALSE
    END AS held_ever,
    coalesce(summaries.pre_satisfied, FALSE) AS pre_satisfied
  FROM actions
  LEFT JOIN summaries USING (example, sub_goal)
)

SELECT  -- noqa: ST06
  example,
  task_id,
  sub_goal,
  position,
  attempted,
  holds,
  attempted AND holds AS completed,
  attempted AND held_ever AS ever_completed,
  attempted AND held_ever AND NOT holds AS regressed,
  pre_satisfied,
  first_completed,
  judged,
  by_step AND NOT judged AS by_step
FROM judged;
