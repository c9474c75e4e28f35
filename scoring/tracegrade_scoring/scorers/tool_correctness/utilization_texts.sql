-- Results of calls that changed nothing, and the texts that the agent wrote later.
--
-- Only attempts whose task states expectations are included. Texts that were not captured as a
-- whole are left out, and so are the arguments of an attempt's first call: no result came before
-- it. Source: docs/metrics.md, section 2.2.
--
-- Reads:
--   attempt_members
--   attempts
--   calls
--   steps
--   tasks
-- As:
--   view
-- Columns:
--   trajectory_id  INTEGER  The agent's run.
--   step_index     INTEGER  Step of the call, or of the message.
--   attempt_id     INTEGER  Attempt of the call; NULL for a message of the agent.
--   call_index     INTEGER  Index of the call; NULL in the same case. One row for each such call,
--                           each argument and message.
--   text           VARCHAR  Result, arguments or message, in lower case.
-- Order:
--   none
WITH expecting AS (
  SELECT attempts.attempt_id
  FROM attempts
  INNER JOIN tasks USING (task_id)
  WHERE tasks.has_expected
)

SELECT
  calls.trajectory_id,
  calls.step_index,
  calls.attempt_id,
  calls.call_index,
  lower(calls.result) AS text
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
  lower(calls.arguments) AS text
FROM calls
WHERE
  NOT calls.content_missing
  AND calls.call_index > 0
  AND calls.attempt_id IN (FROM expecting)
UNION ALL
SELECT
  steps.trajectory_id,
  steps.step_index,
  NULL AS attempt_id,
  NULL AS call_index,
  lower(steps.content) AS text
FROM steps
INNER JOIN attempt_members USING (trajectory_id)
WHERE
  steps.kind IN ('message', 'answer')
  AND steps.role IS DISTINCT FROM 'user'
  AND attempt_members.attempt_id IN (FROM expecting);
