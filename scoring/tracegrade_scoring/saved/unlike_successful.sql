-- Failed trajectories that differ most from the successful ones of their task, by their tools.
--
-- Each is compared with the most similar successful trajectory: the tools that only one of the two
-- calls.
--
-- Reads:
--   steps
--   trajectory_scores
-- Columns:
--   trajectory_id  VARCHAR    One row for each failed trajectory whose task another one solved.
--   task_id        VARCHAR
--   release        VARCHAR    NULL if not sent.
--   likeness       DOUBLE     Calls that both make / calls of both together, by tool, in [0, 1].
--   successful     VARCHAR    The most similar successful trajectory; of equals, the first by id.
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

bags AS (
  SELECT
    attempts.trajectory_id,
    attempts.task_id,
    attempts.release,
    attempts.succeeded,
    string_agg(tools.tool_name || ' ' || tools.calls, chr(10) ORDER BY tools.tool_name) AS bag
  FROM attempts
  LEFT JOIN tools USING (trajectory_id)
  GROUP BY ALL
),

-- Many attempts of a task call the same tools equally often: one represents all of them.
kinds AS (
  SELECT
    task_id,
    succeeded,
    bag,
    min(trajectory_id) AS example
  FROM bags
  GROUP BY task_id, succeeded, bag
),

pairs AS (
  SELECT
    failed.example AS failed,
    solved.example AS successful
  FROM kinds AS failed
  INNER JOIN kinds AS solved ON failed.task_id = solved.task_id
  WHERE NOT failed.succeeded AND solved.succeeded
),

-- A tool that both call has two rows.
called AS (
  SELECT
    pairs.failed,
    pairs.successful,
    tools.tool_name,
    tools.calls AS failed_calls,
    0 AS successful_calls
  FROM pairs
  INNER JOIN tools ON pairs.failed = tools.trajectory_id
  UNION ALL BY NAME
  SELECT
    pairs.failed,
    pairs.successful,
    tools.tool_name,
    0 AS failed_calls,
    tools.calls AS successful_calls
  FROM pairs
  INNER JOIN tools ON pairs.successful = tools.trajectory_id
),

compared AS (
  SELECT
    failed,
    successful,
    tool_name,
    sum(failed_calls) AS failed_calls,
    sum(successful_calls) AS successful_calls
  FROM called
  GROUP BY failed, successful, tool_name
),

likenesses AS (
  SELECT
    failed,
    successful,
    sum(least(failed_calls, successful_calls)) / sum(greatest(failed_calls, successful_calls))
      AS likeness,
    list(tool_name ORDER BY tool_name) FILTER (WHERE successful_calls > failed_calls) AS missing,
    list(tool_name ORDER BY tool_name) FILTER (WHERE failed_calls > successful_calls) AS extra
  FROM compared
  GROUP BY failed, successful
),

-- If neither calls a tool, they are equal.
closest AS (
  SELECT
    pairs.failed,
    pairs.successful,
    coalesce(likenesses.likeness, 1) AS likeness,
    coalesce(likenesses.missing, []) AS missing,
    coalesce(likenesses.extra, []) AS extra
  FROM pairs
  LEFT JOIN likenesses
    ON pairs.failed = likenesses.failed AND pairs.successful = likenesses.successful
  QUALIFY
    row_number() OVER (
      PARTITION BY pairs.failed
      ORDER BY coalesce(likenesses.likeness, 1) DESC, pairs.successful ASC
    ) = 1
)

SELECT
  bags.trajectory_id,
  bags.task_id,
  bags.release,
  closest.likeness,
  closest.successful,
  closest.missing,
  closest.extra
FROM closest
INNER JOIN kinds ON closest.failed = kinds.example
INNER JOIN bags
  ON
    kinds.task_id = bags.task_id
    AND kinds.succeeded = bags.succeeded
    AND kinds.bag IS NOT DISTINCT FROM bags.bag
ORDER BY closest.likeness, bags.trajectory_id;
