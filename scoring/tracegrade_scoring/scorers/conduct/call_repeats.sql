-- Calls that have another call with the same tool and arguments in their attempt.
--
-- A call is redundant if it equals the most recent equal call that went well, and no call between
-- them may have changed anything. Calls are equal in tool, arguments, and result where both
-- results are known. Arguments that were not captured equal nothing. Source: docs/metrics.md,
-- sections 0.5 and 3.2.
--
-- Reads:
--   calls
--   canonical_repeats
-- Needs:
--   calls
-- Columns:
--   attempt_id      INTEGER  The root trajectory.
--   call_index      INTEGER  One row for each attempt_id and call_index.
--   trajectory_id   INTEGER  The trajectory that made the call.
--   own_index       INTEGER  Index of the call among the calls of its trajectory.
--   tool_name       VARCHAR  Never NULL.
--   identity        INTEGER  Index of the first call with this tool and these arguments.
--   result          VARCHAR  Equal for equal JSON; NULL if it was not captured as a whole. A
--                            failed call without a result has its error.
--   failed          BOOLEAN  Never NULL.
--   writes          BOOLEAN  It is known to be a write or destructive, of a tool that exists.
--   redundant       BOOLEAN  Never NULL.
--   finds           BIGINT   Calls of its trajectory so far that may have found something new;
--                            NULL if it failed.
--   finds_unsure    BOOLEAN  The number depends on results that were not captured; NULL if it
--                            failed.
-- Order:
--   none
WITH sets AS (
  SELECT
    attempt_id,
    hash(tool_name, arguments) AS text_hash
  FROM calls
  WHERE
    NOT content_missing
    AND tool_name IS NOT NULL
  GROUP BY ALL
  HAVING count(*) > 1
),

watched AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    calls.trajectory_id,
    calls.own_index,
    calls.tool_name,
    calls.arguments,
    -- The error replaces a missing result.
    if(
      calls.result_missing,
      if(calls.result IS NULL, 'error: ' || calls.error, NULL),
      coalesce(same.canonical, calls.result)
    ) AS result,
    calls.failed,
    calls.content_missing,
    calls.may_change,
    calls.may_change AND coalesce(calls.effect IN ('write', 'destructive'), FALSE) AS writes,
    count_if(calls.may_change) OVER (
      PARTITION BY calls.attempt_id
      ORDER BY calls.call_index
    ) AS changes
  FROM calls
  LEFT JOIN canonical_repeats AS same ON calls.result = same.result
  WHERE calls.attempt_id IN (SELECT sets.attempt_id FROM sets)
),

-- A result is new if no other call of the trajectory returned it.
finding AS (
  SELECT
    *,
    NOT failed
    AND (
      result IS NULL
      OR count(*) OVER (PARTITION BY attempt_id, trajectory_id, hash(result)) = 1
    ) AS may_find,
    NOT failed AND result IS NULL AS unsure
  FROM watched
),

followed AS (
  SELECT
    * EXCLUDE (may_find, unsure),
    count_if(may_find) OVER (
      PARTITION BY attempt_id, trajectory_id
      ORDER BY own_index
    )::BIGINT AS finds,
    bool_or(unsure) OVER (PARTITION BY attempt_id, trajectory_id) AS finds_unsure
  FROM finding
),

repeated AS (
  SELECT
    followed.*,
    min(followed.call_index) OVER (
      PARTITION BY followed.attempt_id, followed.tool_name, followed.arguments
    ) AS identity
  FROM followed
  INNER JOIN sets
    ON
      followed.attempt_id = sets.attempt_id
      AND hash(followed.tool_name, followed.arguments) = sets.text_hash
  WHERE
    NOT followed.content_missing
    AND followed.tool_name IS NOT NULL
),

-- Changes up to the most recent equal call that went well: the more, the more recent.
compared AS (
  SELECT
    *,
    max(changes) FILTER (WHERE NOT failed) OVER earlier AS at_any,
    max(changes) FILTER (WHERE NOT failed AND result IS NULL) OVER earlier AS at_unknown,
    max(changes) FILTER (WHERE NOT failed) OVER (
      PARTITION BY attempt_id, identity, result
      ORDER BY call_index
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS at_same
  FROM repeated
  WINDOW earlier AS (
    PARTITION BY attempt_id, identity
    ORDER BY call_index
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
)

SELECT
  attempt_id,
  call_index,
  trajectory_id,
  own_index,
  tool_name,
  identity,
  result,
  failed,
  writes,
  coalesce(
    changes - may_change::INTEGER
    = if(result IS NULL, at_any, greatest(at_same, at_unknown)),
    FALSE
  ) AS redundant,
  if(failed, NULL, finds) AS finds,
  if(failed, NULL, finds_unsure) AS finds_unsure
FROM compared;
