-- Attempts in which one call led to failures of others, and that call.
--
-- It failed, or was not what its task expects; and at least two later failed calls serve a
-- sub-goal with a prerequisite that it served and left open, or use a distinctive token of its
-- result that was not in its arguments. Source: Harness, "Failure-mode taxonomy"; metrics.md,
-- section 9.
--
-- Reads:
--   call_points
--   calls
--   decision_rows
--   sub_goal_requirements
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt with a cascade, or of which it is not known.
--   call_index  INTEGER  The call that led to the others; NULL if it is not known.
--   detail      VARCHAR  What followed; NULL if it is not known.
-- Order:
--   none
WITH failures AS (
  SELECT
    attempt_id,
    list(call_index ORDER BY call_index DESC)[2] AS second_last
  FROM calls
  WHERE failed
  GROUP BY attempt_id
  HAVING count(*) >= 2
),

mismatches AS (
  SELECT
    trajectory_id AS attempt_id,
    call_index
  FROM decision_rows
  WHERE
    list_has_any(failed_criteria, ['a', 'b'])
    AND NOT missed
),

-- Calls after which two more failed, if they failed themselves or were wrong; and all failed ones.
suspects AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.failed,
    calls.call_index < failures.second_last
    AND (calls.failed OR mismatches.attempt_id IS NOT NULL) AS may_lead,
    calls.result_missing,
    calls.content_missing,
    if(calls.result_missing, NULL, calls.result) AS result,
    if(calls.content_missing, [], list_distinct(distinctive_tokens(calls.arguments)))
      AS argument_tokens,
    call_points.sub_goal
  FROM calls
  INNER JOIN failures USING (attempt_id)
  INNER JOIN call_points USING (attempt_id, call_index)
  LEFT JOIN mismatches USING (attempt_id, call_index)
  WHERE calls.failed OR mismatches.attempt_id IS NOT NULL
),

marks AS (
  SELECT
    attempt_id,
    call_index,
    'sub-goal ' || sub_goal AS mark,
    FALSE AS follows
  FROM suspects
  WHERE may_lead AND sub_goal IS NOT NULL
  UNION ALL
  SELECT
    attempt_id,
    call_index,
    unnest(
      list_filter(
        list_distinct(distinctive_tokens(result)),
        LAMBDA token: NOT list_contains(argument_tokens, token)
      )
    ) AS mark,
    FALSE AS follows
  FROM suspects
  WHERE may_lead
  UNION ALL
  SELECT
    suspects.attempt_id,
    suspects.call_index,
    'sub-goal ' || needed.prerequisite AS mark,
    TRUE AS follows
  FROM suspects
  INNER JOIN sub_goal_requirements AS needed USING (attempt_id, sub_goal)
  WHERE
    suspects.failed
    AND needed.open_until >= suspects.call_index
  UNION ALL
  SELECT
    attempt_id,
    call_index,
    unnest(argument_tokens) AS mark,
    TRUE AS follows
  FROM suspects
  WHERE failed
),

numbered AS (
  SELECT
    *,
    count_if(follows) OVER (PARTITION BY attempt_id, mark ORDER BY call_index) AS place
  FROM marks
),

-- Two are enough, so the next two that share a mark are.
led AS (
  SELECT DISTINCT
    roots.attempt_id,
    roots.call_index,
    followers.call_index AS follower
  FROM numbered AS roots
  INNER JOIN numbered AS followers
    ON
      roots.attempt_id = followers.attempt_id
      AND roots.mark = followers.mark
      AND followers.follows
      AND followers.place BETWEEN roots.place + 1 AND roots.place + 2
  WHERE NOT roots.follows
),

cascades AS (
  SELECT
    attempt_id,
    call_index,
    list(follower ORDER BY follower)[:2] AS followers
  FROM led
  GROUP BY attempt_id, call_index
  HAVING count(*) >= 2
),

first_cascades AS (
  SELECT
    attempt_id,
    min(call_index) AS call_index,
    arg_min(followers, call_index) AS followers
  FROM cascades
  GROUP BY attempt_id
),

hidden AS (
  SELECT attempt_id
  FROM suspects
  GROUP BY attempt_id
  HAVING
    bool_or(may_lead)
    AND (bool_or(may_lead AND result_missing) OR bool_or(failed AND content_missing))
)

SELECT
  first_cascades.attempt_id,
  first_cascades.call_index,
  concat(
    calls.tool_name, if(calls.failed, ' failed', ' was not what is expected'), ', and calls ',
    first_cascades.followers[1], ' and ', first_cascades.followers[2], ' failed after it'
  ) AS detail
FROM first_cascades
INNER JOIN calls USING (attempt_id, call_index)
UNION ALL
SELECT
  attempt_id,
  NULL AS call_index,
  NULL AS detail
FROM hidden
WHERE attempt_id NOT IN (SELECT cascades.attempt_id FROM cascades);
