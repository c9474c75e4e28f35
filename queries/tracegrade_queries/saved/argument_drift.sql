-- Arguments that a tool gets more or less often in one release than in another.
--
-- The argument may be new, dropped, or one that the model began to leave out.
--
-- Reads:
--   steps
--   trajectories
-- Parameters:
--   $base       VARCHAR  A release.
--   $candidate  VARCHAR  The release to compare with it.
-- Columns:
--   tool_name        VARCHAR  One row for each tool_name and argument of tools called in both.
--   argument         VARCHAR  A top-level name.
--   base_calls       BIGINT   Calls of the tool in $base whose arguments are an object.
--   candidate_calls  BIGINT   As base_calls, in $candidate.
--   base_share       DOUBLE   Calls with the argument / base_calls, in [0, 1].
--   candidate_share  DOUBLE   As base_share.
--   difference       DOUBLE   candidate_share - base_share, in [-1, 1]; never 0.
-- Order:
--   difference by size DESC, tool_name, argument
WITH runs AS (
  SELECT
    trajectory_id,
    release = $candidate AS in_candidate
  FROM trajectories
  WHERE release IN ($base, $candidate)
),

calls AS (
  SELECT
    steps.tool_name,
    runs.in_candidate,
    json_keys(try_cast(steps.arguments AS JSON)) AS arguments
  FROM steps
  INNER JOIN runs USING (trajectory_id)
  WHERE
    steps.kind = 'tool_call' AND json_type(try_cast(steps.arguments AS JSON)) = 'OBJECT'
),

tools AS (
  SELECT
    tool_name,
    count(*) FILTER (WHERE NOT in_candidate) AS base_calls,
    count(*) FILTER (WHERE in_candidate) AS candidate_calls
  FROM calls
  GROUP BY tool_name
),

uses AS (
  SELECT
    tool_name,
    in_candidate,
    unnest(arguments) AS argument
  FROM calls
),

shares AS (
  SELECT
    uses.tool_name,
    uses.argument,
    tools.base_calls,
    tools.candidate_calls,
    count(*) FILTER (WHERE NOT uses.in_candidate) / tools.base_calls AS base_share,
    count(*) FILTER (WHERE uses.in_candidate) / tools.candidate_calls AS candidate_share
  FROM uses
  INNER JOIN tools USING (tool_name)
  WHERE tools.base_calls > 0 AND tools.candidate_calls > 0
  GROUP BY uses.tool_name, uses.argument, tools.base_calls, tools.candidate_calls
)

SELECT
  tool_name,
  argument,
  base_calls,
  candidate_calls,
  base_share,
  candidate_share,
  candidate_share - base_share AS difference
FROM shares
WHERE candidate_share <> base_share
ORDER BY abs(difference) DESC, tool_name ASC, argument ASC;
