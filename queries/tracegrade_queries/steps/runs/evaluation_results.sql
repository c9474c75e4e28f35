-- Evaluation results among the events and log records of the bucket.
--
-- A result without a span may name the response that was evaluated.
--
-- Reads:
--   bucket_events
--   bucket_spans
--   bucket_traces
--   logs
--   response_ids
-- Columns:
--   trace_id    VARCHAR
--   key         BIGINT                 Evaluated span; NULL if it is not here, or none was named.
--   time_ns     BIGINT
--   attributes  MAP(VARCHAR, VARCHAR)
-- Order:
--   none
WITH responding AS (
  SELECT
    bucket_spans.trace_id,
    response_ids.response_id,
    min(bucket_spans.key) AS key
  FROM response_ids
  INNER JOIN bucket_spans USING (key)
  GROUP BY bucket_spans.trace_id, response_ids.response_id
)

SELECT
  bucket_spans.trace_id,
  bucket_events.key,
  bucket_events.time_ns,
  bucket_events.attributes
FROM bucket_events
INNER JOIN bucket_spans USING (key)
WHERE bucket_events.name = 'gen_ai.evaluation.result'
UNION ALL
-- Results for a span that is not here, or for no span.
SELECT
  logs.trace_id,
  responding.key,
  coalesce(nullif(logs.time_ns, 0), logs.observed_time_ns) AS time_ns,
  logs.attributes
FROM logs
INNER JOIN bucket_traces USING (trace_id)
ANTI JOIN bucket_spans
  ON logs.trace_id = bucket_spans.trace_id AND logs.span_id = bucket_spans.span_id
LEFT JOIN responding
  ON
    logs.trace_id = responding.trace_id
    AND logs.attributes['gen_ai.response.id'] = responding.response_id
WHERE
  coalesce(nullif(logs.event_name, ''), logs.attributes['event.name'], logs.body)
  = 'gen_ai.evaluation.result'
  AND logs.scope_name IS DISTINCT FROM 'tracegrade.scoring';
