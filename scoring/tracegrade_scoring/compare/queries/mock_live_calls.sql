-- Mocked calls of an agent in two releases, beside what live calls with equal arguments returned.
--
-- Calls are matched by tool and canonical arguments. A live result that is equal to the mocked one
-- is enough, and so is one of the same shape: live tools may answer differently each time.
-- Source: docs/metrics.md, sections 0.5 and 10.4.
--
-- Reads:
--   steps
--   trajectories
-- Parameters:
--   $base       VARCHAR  One release.
--   $candidate  VARCHAR  The other.
-- Columns:
--   agent_name      VARCHAR  One row for each agent_name and tool_name; NULL if none is named.
--   tool_name       VARCHAR  Of the mocked calls.
--   calls           BIGINT   Mocked calls; at least 1.
--   content_missing  BIGINT  Of these, with content not captured, redacted or cut: no match.
--   misses          BIGINT   Of the others, without a live call of equal arguments.
--   matched         BIGINT   The rest; divergence is (other_shape + other_values) / matched.
--   other_shape     BIGINT   Matched, but no live result has the same keys and types.
--   other_values    BIGINT   Matched, of the same shape, but no live result is equal.
-- Order:
--   agent_name, tool_name
WITH runs AS (
  SELECT
    trajectory_id,
    agent_name,
    run_mode = 'mocked' AS mocked
  FROM trajectories
  WHERE
    release IN ($base, $candidate)
    AND run_mode IN ('mocked', 'live', 'production')
    AND injection IS NULL
  QUALIFY bool_or(run_mode = 'mocked') OVER (PARTITION BY agent_name)
),

calls AS (
  SELECT
    runs.agent_name,
    runs.mocked,
    steps.tool_name,
    steps.arguments,
    steps.result,
    steps.arguments IS NULL
    OR steps.result IS NULL
    OR list_has_any(
      steps.flags,
      ['redacted', 'truncated', 'result_redacted', 'result_truncated', 'unparsed_arguments']
    ) AS lacking,
    CASE
      WHEN json_valid(steps.result) THEN json_structure(steps.result)::VARCHAR
      ELSE steps.status
    END AS shape
  FROM steps
  INNER JOIN runs USING (trajectory_id)
  WHERE steps.kind = 'tool_call'
),

live_results AS (
  SELECT
    agent_name,
    tool_name,
    arguments,
    list(DISTINCT result) AS results,
    list(DISTINCT shape) AS shapes
  FROM calls
  WHERE NOT mocked AND NOT lacking
  GROUP BY agent_name, tool_name, arguments
),

mocked_calls AS (
  SELECT
    calls.agent_name,
    calls.tool_name,
    calls.lacking,
    NOT calls.lacking AND live_results.results IS NOT NULL AS matched,
    list_contains(live_results.shapes, calls.shape) AS same_shape,
    list_contains(live_results.results, calls.result) AS same_result
  FROM calls
  LEFT JOIN live_results
    ON
      calls.tool_name = live_results.tool_name
      AND calls.arguments = live_results.arguments
      AND calls.agent_name IS NOT DISTINCT FROM live_results.agent_name
  WHERE calls.mocked
)

SELECT
  agent_name,
  tool_name,
  count(*) AS calls,
  count(*) FILTER (WHERE lacking) AS content_missing,
  count(*) FILTER (WHERE NOT lacking AND NOT matched) AS misses,
  count(*) FILTER (WHERE matched) AS matched,
  count(*) FILTER (WHERE matched AND NOT same_shape) AS other_shape,
  count(*) FILTER (WHERE matched AND same_shape AND NOT same_result) AS other_values
FROM mocked_calls
GROUP BY agent_name, tool_name
ORDER BY agent_name, tool_name;
