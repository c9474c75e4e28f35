-- Traces weighed for buckets: by their number of spans; a large span counts several times.
--
-- Reads:
--   affected_traces
--   span_sizes
-- Parameters:
--   span_bytes  BIGINT  Size of the attributes of a span that weighs 1; a larger span weighs more.
-- Columns:
--   trace_id  VARCHAR  One row each.
--   date      DATE     As in affected_traces, and so are all but the last.
--   records   BIGINT
--   imported  BOOLEAN
--   first_ns  BIGINT
--   last_ns   BIGINT
--   weight    BIGINT   At least the number of its spans.
-- Order:
--   none
WITH sized AS (
  SELECT
    affected_traces.trace_id,
    affected_traces.date,
    affected_traces.spans,
    affected_traces.records,
    affected_traces.imported,
    affected_traces.first_ns,
    affected_traces.last_ns,
    span_sizes.span_bytes AS size
  FROM affected_traces
  ASOF LEFT JOIN span_sizes
    ON affected_traces.first_ns >= span_sizes.from_ns
)

SELECT
  trace_id,
  date,
  records,
  imported,
  first_ns,
  last_ns,
  greatest(spans, spans * size // $span_bytes) AS weight
FROM sized;
