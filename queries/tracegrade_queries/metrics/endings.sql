-- Attempts that did not end by themselves: their missing decisions are not the agent's choice.
--
-- Source: metrics.md, section 3 (`termination`: crashed and budget).
--
-- Reads:
--   spans
--   steps
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row for each trajectory that was cut off.
--   ending         VARCHAR  budget (the output was cut) | crashed (root in error or absent).
-- Order:
--   trajectory_id
WITH last_requests AS (
  SELECT
    trajectory_id,
    arg_max(request_span_id, step_index) AS span_id
  FROM steps
  WHERE request_span_id IS NOT NULL
  GROUP BY trajectory_id
),

cut AS (
  SELECT trajectories.trajectory_id
  FROM trajectories
  INNER JOIN last_requests USING (trajectory_id)
  INNER JOIN spans
    ON trajectories.trace_id = spans.trace_id AND last_requests.span_id = spans.span_id
  -- Vendors' words for a full output are often passed on as they are.
  WHERE
    regexp_matches(
      lower(spans.attributes['gen_ai.response.finish_reasons']), 'length|max_tokens|max_turns'
    )
),

broken AS (
  SELECT trajectories.trajectory_id
  FROM trajectories
  INNER JOIN spans
    ON trajectories.trace_id = spans.trace_id AND trajectories.root_span_id = spans.span_id
  WHERE spans.status_code = 2
)

SELECT
  trajectory_id,
  'budget' AS ending
FROM cut
UNION
SELECT
  trajectory_id,
  'crashed' AS ending
FROM trajectories
WHERE
  (NOT complete OR trajectory_id IN (FROM broken))
  AND trajectory_id NOT IN (FROM cut)
ORDER BY trajectory_id;
