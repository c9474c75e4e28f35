-- The response of the model in attempts without a root span that called a model once.
--
-- An evaluation of such an attempt can name it in place of a span. Source: [OTel GenAI],
-- gen-ai-events, `gen_ai.response.id`.
--
-- Reads:
--   attempts_to_send
--   spans
--   steps
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row each.
--   response_id    VARCHAR  Id that the provider gave the response.
-- Order:
--   trajectory_id
WITH calls AS (
  SELECT
    attempts_to_send.trajectory_id,
    attempts_to_send.trace_id,
    min(steps.request_span_id) AS span_id
  FROM attempts_to_send
  INNER JOIN trajectories ON attempts_to_send.trajectory_id = trajectories.trajectory_id
  INNER JOIN steps ON attempts_to_send.trajectory_id = steps.trajectory_id
  WHERE
    attempts_to_send.root_span_id IS NULL
    AND trajectories.llm_call_count = 1
  GROUP BY attempts_to_send.trajectory_id, attempts_to_send.trace_id
  HAVING count(DISTINCT steps.request_span_id) = 1
)

SELECT
  calls.trajectory_id,
  min(spans.attributes['gen_ai.response.id']) AS response_id
FROM calls
INNER JOIN spans ON calls.trace_id = spans.trace_id AND calls.span_id = spans.span_id
WHERE spans.attributes['gen_ai.response.id'] <> ''
GROUP BY calls.trajectory_id
ORDER BY calls.trajectory_id;
