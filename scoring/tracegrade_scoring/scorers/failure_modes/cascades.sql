-- Attempts in which one call led to failures of others, and that call.
--
-- The call failed, or was not the call that its task expects, and at least two later failed calls
-- depend on it. A later call depends on it if it serves a sub-goal with a prerequisite that the
-- call served and left open, or uses a distinctive token of its result that was not in its
-- arguments. Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.4.
--
-- Reads:
--   calls
--   sub_goal_examples
--   sub_goal_requirements
--   cascade_tokens
--   cascade_candidates
-- Needs:
--   cascade_candidates
-- Columns:
--   attempt_id  INTEGER  One row for each attempt with a cascade, or possibly with one.
--   call_index  INTEGER  The call that led to the others; NULL if it is not known.
--   detail      VARCHAR  The calls that followed; NULL if it is not known.
-- Order:
--   none
WITH marks AS (
  SELECT
    attempt_id,
    call_index,
    'sub-goal ' || sub_goal AS mark,
    FALSE AS follows
  FROM cascade_candidates
  WHERE may_lead AND sub_goal IS NOT NULL
  UNION ALL
  SELECT
    sources.attempt_id,
    sources.call_index,
    sources.token AS mark,
    FALSE AS follows
  FROM cascade_tokens AS sources
  ANTI JOIN cascade_tokens AS given
    ON
      sources.attempt_id = given.attempt_id
      AND sources.call_index = given.call_index
      AND sources.token = given.token
      AND NOT given.returned
  WHERE sources.returned
  UNION ALL
  SELECT
    cascade_candidates.attempt_id,
    cascade_candidates.call_index,
    'sub-goal ' || needed.prerequisite AS mark,
    TRUE AS follows
  FROM cascade_candidates
  INNER JOIN sub_goal_examples USING (attempt_id)
  INNER JOIN sub_goal_requirements AS needed USING (example, sub_goal)
  WHERE
    cascade_candidates.failed
    AND needed.open_until >= cascade_candidates.call_index
  UNION ALL
  SELECT
    cascade_candidates.attempt_id,
    cascade_candidates.call_index,
    given.token AS mark,
    TRUE AS follows
  FROM cascade_candidates
  INNER JOIN cascade_tokens AS given USING (attempt_id, call_index)
  WHERE
    cascade_candidates.failed
    AND NOT given.returned
),

numbered AS (
  SELECT
    *,
    count_if(follows) OVER (PARTITION BY attempt_id, mark ORDER BY call_index) AS position
  FROM marks
),

-- Two are enough, so the next two that share a mark suffice.
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
      AND followers.position BETWEEN roots.position + 1 AND roots.position + 2
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
  FROM cascade_candidates
  GROUP BY attempt_id
  HAVING
    bool_or(may_lead)
    AND (bool_or(may_lead AND result_missing) OR bool_or(failed AND content_missing))
)

SELECT
  first_cascades.attempt_id,
  first_cascades.call_index,
  concat(
    calls.tool_name, if(calls.failed, ' failed', ' was not the expected call'), ', and calls ',
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
