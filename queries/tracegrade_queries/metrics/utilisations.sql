-- Results of calls that changed nothing, and whether the agent made use of them later.
--
-- A result is used if one of its distinctive tokens stands as a whole token in a later argument or
-- message of the agent that got it. Source: metrics.md, section 2 (s4).
--
-- Reads:
--   attempt_members
--   attempts
--   calls
--   steps
--   tasks
-- Columns:
--   attempt_id  VARCHAR  An attempt whose task states expectations.
--   call_index  INTEGER  A call whose result has a distinctive token; one row for each of the two.
--   used        BOOLEAN  Never NULL.
-- Order:
--   none
WITH expecting AS (
  SELECT attempts.attempt_id
  FROM attempts
  INNER JOIN tasks USING (task_id)
  WHERE tasks.has_expected
),

told AS (
  SELECT
    calls.trajectory_id,
    calls.step_index,
    calls.attempt_id,
    calls.call_index,
    calls.result AS text
  FROM calls
  WHERE
    NOT calls.failed
    AND NOT calls.result_missing
    AND coalesce(calls.effect = 'read', TRUE)
    AND calls.attempt_id IN (FROM expecting)
  UNION ALL
  SELECT
    calls.trajectory_id,
    calls.step_index,
    NULL AS attempt_id,
    NULL AS call_index,
    calls.arguments AS text
  FROM calls
  WHERE
    NOT calls.content_missing
    AND calls.attempt_id IN (FROM expecting)
  UNION ALL
  SELECT
    steps.trajectory_id,
    steps.step_index,
    NULL AS attempt_id,
    NULL AS call_index,
    steps.content AS text
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  WHERE
    steps.kind IN ('message', 'answer')
    AND steps.role IS DISTINCT FROM 'user'
    AND attempt_members.attempt_id IN (FROM expecting)
),

distinctive AS (
  SELECT
    trajectory_id,
    step_index,
    attempt_id,
    call_index,
    unnest(distinctive_tokens(text)) AS token
  FROM told
),

last_uses AS (
  SELECT
    trajectory_id,
    token,
    max(step_index) AS step_index
  FROM distinctive
  WHERE attempt_id IS NULL
  GROUP BY trajectory_id, token
)

SELECT
  distinctive.attempt_id,
  distinctive.call_index,
  bool_or(coalesce(last_uses.step_index > distinctive.step_index, FALSE)) AS used
FROM distinctive
LEFT JOIN last_uses USING (trajectory_id, token)
WHERE distinctive.attempt_id IS NOT NULL
GROUP BY distinctive.attempt_id, distinctive.call_index;
