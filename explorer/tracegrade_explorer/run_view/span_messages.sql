-- Attributes and events of one span as received; if it was sent twice, the first copy counts.
--
-- Reads:
--   spans
-- Parameters:
--   $trace_id    VARCHAR  The trace.
--   $span_id     VARCHAR  The span.
--   $first_date  DATE     Date on which the first span of the trace was received.
--   $last_date   DATE     Date on which its last one was.
-- Columns:
--   attributes  MAP(VARCHAR, VARCHAR)  Values that are not texts are JSON.
--   events      VARCHAR                JSON list of name and attributes, in the order sent.
--   end_ns      BIGINT                 NULL if too large.
-- Order:
--   those that ended last first; one that was sent at its start and again at its end has two rows
SELECT
  attributes,
  to_json(
    list_transform(
      coalesce(events, []),
      LAMBDA event: struct_pack(name := event['name'], attributes := event['attributes'])
    )
  )::VARCHAR AS events,
  end_ns
FROM spans
WHERE date BETWEEN $first_date AND $last_date AND trace_id = $trace_id AND span_id = $span_id
ORDER BY end_ns DESC NULLS LAST;
