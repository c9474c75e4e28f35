-- Failed calls, and whether the agent recovered from them within its next five calls.
--
-- Recovered: a later call went well that serves the same sub-goal by another tool or with other
-- arguments. If the failed call serves no sub-goal, a call of its tool with a changed argument
-- and, if it had two or more, an unchanged one. Each failed call is judged alone. Source:
-- [Harness], "Trajectory scoring"; docs/metrics.md, section 3.3.
--
-- Reads:
--   attempts_with_unrecorded_calls
--   decision_points_of_calls
--   calls
-- Needs:
--   calls WHERE failed
-- Columns:
--   attempt_id  INTEGER  The root trajectory.
--   call_index  INTEGER  The failed call; one row for each attempt_id and call_index.
--   recovered   BOOLEAN  NULL where arguments that were not captured, or calls that were not
--                        recorded decide it.
--   retried     BOOLEAN  The same call went well, and nothing else did.
-- Order:
--   none
WITH failures AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.tool_name,
    decision_points_of_calls.sub_goal
  FROM calls
  INNER JOIN decision_points_of_calls USING (attempt_id, call_index)
  WHERE calls.failed
),

chances AS (
  SELECT
    *,
    call_index + unnest([1, 2, 3, 4, 5]) AS next_index
  FROM failures
),

successes_after AS (
  SELECT
    chances.attempt_id,
    chances.call_index,
    chances.next_index,
    chances.sub_goal IS NOT NULL AS by_sub_goal,
    coalesce(chances.tool_name = later.tool_name, FALSE) AS same_tool
  FROM chances
  INNER JOIN calls AS later
    ON chances.attempt_id = later.attempt_id AND chances.next_index = later.call_index
  INNER JOIN decision_points_of_calls AS later_points
    ON
      chances.attempt_id = later_points.attempt_id
      AND chances.next_index = later_points.call_index
  WHERE
    NOT later.failed
    AND if(
      chances.sub_goal IS NULL,
      chances.tool_name = later.tool_name,
      chances.sub_goal = later_points.sub_goal
    )
),

-- Only now are arguments looked at, and only those of few calls.
later_calls AS (
  SELECT
    calls.attempt_id,
    calls.call_index AS next_index,
    calls.content_missing,
    calls.arguments,
    calls.parsed
  FROM calls
  SEMI JOIN successes_after AS after
    ON calls.attempt_id = after.attempt_id AND calls.call_index = after.next_index
),

compared AS (
  SELECT
    after.attempt_id,
    after.call_index,
    after.by_sub_goal,
    after.same_tool,
    calls.content_missing OR later.content_missing AS hidden,
    calls.arguments = later.arguments AS same_arguments,
    CASE
      WHEN after.by_sub_goal OR calls.arguments = later.arguments THEN TRUE
      WHEN NOT (calls.parsed AND later.parsed) THEN TRUE
      ELSE
        len(json_keys(calls.arguments)) < 2
        OR list_has_any(
          list_zip(json_keys(calls.arguments), json_extract(calls.arguments, '$.*')),
          list_zip(json_keys(later.arguments), json_extract(later.arguments, '$.*'))
        )
    END AS shares_argument
  FROM successes_after AS after
  INNER JOIN calls USING (attempt_id, call_index)
  INNER JOIN later_calls AS later USING (attempt_id, next_index)
),

judged AS (
  SELECT
    attempt_id,
    call_index,
    CASE
      WHEN by_sub_goal AND NOT same_tool THEN TRUE
      WHEN hidden THEN NULL
      WHEN same_arguments THEN FALSE
      ELSE by_sub_goal OR shares_argument
    END AS recovered,
    same_tool AND same_arguments AND NOT hidden AS retried
  FROM compared
),

outcomes AS (
  SELECT
    attempt_id,
    call_index,
    bool_or(recovered) AS recovered,
    count(*) > count(recovered) AS hidden,
    bool_or(retried) AS retried
  FROM judged
  GROUP BY attempt_id, call_index
)

SELECT
  failures.attempt_id,
  failures.call_index,
  CASE
    WHEN outcomes.recovered THEN TRUE
    WHEN NOT (coalesce(outcomes.hidden, FALSE) OR lacking.attempt_id IS NOT NULL) THEN FALSE
  END AS recovered,
  coalesce(outcomes.retried AND NOT coalesce(outcomes.recovered, FALSE), FALSE) AS retried
FROM failures
LEFT JOIN outcomes USING (attempt_id, call_index)
LEFT JOIN attempts_with_unrecorded_calls AS lacking USING (attempt_id);
