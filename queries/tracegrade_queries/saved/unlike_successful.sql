-- Failed trajectories that differ most from the successful ones of their task, by their tools.
--
-- Compared with the successful trajectory that is most alike: what it calls and this one does not.
--
-- Reads:
--   steps
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR    One row for each failed one whose task another one solved.
--   task_id        VARCHAR
--   release        VARCHAR    NULL if not sent.
--   likeness       DOUBLE     Calls that both make / calls of both together, by tool, in [0, 1].
--   successful     VARCHAR    The successful trajectory most alike, the first by id of equals.
--   missing        VARCHAR[]  Tools that it calls more often than this one, sorted.
--   extra          VARCHAR[]  Tools that this one calls more often, sorted.
-- Order:
--   likeness, trajectory_id
WITH attempts AS (
  SELECT
    trajectory_id,
    task_id,
    release,
    success.value = 1 AS succeeded
  FROM trajectory_scores
  WHERE success.status = 'scored' AND task_id IS NOT NULL
),

tools AS (
  SELECT
    attempts.trajectory_id,
    steps.tool_name,
    count(*) AS calls
  FROM attempts
  INNER JOIN steps USING (trajectory_id)
  WHERE steps.kind = 'tool_call'
  GROUP BY attempts.trajectory_id, steps.tool_name
),

pairs AS (
  SELECT
    failed.trajectory_id,
    failed.task_id,
    failed.release,
    solved.trajectory_id AS successful
  FROM attempts AS failed
  INNER JOIN attempts AS solved ON failed.task_id = solved.task_id
  WHERE NOT failed.succeeded AND solved.succeeded
),

-- One row for each pair and tool that one of the two calls.
called AS (
  SELECT
    pairs.trajectory_id,
    pairs.successful,
    tools.tool_name,
    sum(tools.calls) FILTER (WHERE tools.trajectory_id = pairs.trajectory_id) AS calls,
    sum(tools.calls) FILTER (WHERE tools.trajectory_id = pairs.successful) AS successful_calls
  FROM pairs
  INNER JOIN tools ON tools.trajectory_id IN (pairs.trajectory_id, pairs.successful)
  GROUP BY pairs.trajectory_id, pairs.successful, tools.tool_name
),

likenesses AS (
  SELECT
    trajectory_id,
    successful,
    sum(least(coalesce(calls, 0), coalesce(successful_calls, 0)))
    / sum(greatest(coalesce(calls, 0), coalesce(successful_calls, 0))) AS likeness,
    list(tool_name ORDER BY tool_name) FILTER (
      WHERE coalesce(successful_calls, 0) > coalesce(calls, 0)
    ) AS missing,
    list(tool_name ORDER BY tool_name) FILTER (
      WHERE coalesce(calls, 0) > coalesce(successful_calls, 0)
    ) AS extra
  FROM called
  GROUP BY trajectory_id, successful
)

SELECT
  pairs.trajectory_id,
  pairs.task_id,
  pairs.release,
  -- Neither calls a tool: they are alike.
  coalesce(likenesses.likeness, 1) AS likeness,
  pairs.successful,
  coalesce(likenesses.missing, []) AS missing,
  coalesce(likenesses.extra, []) AS extra
FROM pairs
LEFT JOIN likenesses
  ON
    pairs.trajectory_id = likenesses.trajectory_id
    AND pairs.successful = likenesses.successful
QUALIFY
  row_number() OVER (
    PARTITION BY pairs.trajectory_id
    ORDER BY coalesce(likenesses.likeness, 1) DESC, pairs.successful ASC
  ) = 1
ORDER BY likeness, pairs.trajectory_id;
