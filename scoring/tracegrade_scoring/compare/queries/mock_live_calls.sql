-- Mocked calls of an agent in two releases, compared with results of live calls with equal
-- arguments.
--
-- Calls are matched by tool and canonical arguments. One live result that equals the mocked result
-- is enough. One of the same shape is enough too, because live tools may answer differently each
-- time. JSON is in its canonical form here, and all of its numbers have one type. Source:
-- docs/metrics.md, sections 0.5 and 10.4.
--
-- Reads:
--   mock_live_results
-- Columns:
--   agent_name      VARCHAR  One row for each agent_name and tool_name; NULL if none is named.
--   tool_name       VARCHAR  Of the mocked calls.
--   calls           BIGINT   Mocked calls; at least 1.
--   content_missing  BIGINT  Mocked calls with content not captured, redacted or cut: no match.
--   misses          BIGINT   Other mocked calls without a live call with equal arguments.
--   matched         BIGINT   The rest; divergence is (other_shape + other_values) / matched.
--   other_shape     BIGINT   Matched, but no live result has the same keys and types.
--   other_values    BIGINT   Matched, of the same shape, but no live result is equal.
-- Order:
--   agent_name, tool_name
WITH calls AS (
  SELECT
    *,
    -- JSON of many levels has no structure, and no JSON has none.
    coalesce(
      regexp_replace(
        try(json_structure(result))::VARCHAR,
        '"(?:U?BIGINT|U?HUGEINT|DOUBLE)"([,}\]]|$)',
        '"NUMBER"\1',
        'g'
      ),
      status
    ) AS shape
  FROM mock_live_results
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
