-- Spans that equal another of their trace in all but the ids: a second exporter recorded them.
--
-- Equal calls made in parallel must not be merged, so times have to identify copies: they lie
-- between whole milliseconds. If the clock is coarser, all spans below the outermost ones must
-- occur several times, be of more than one kind, and one must hold more than 200 characters;
-- otherwise agents may have done the same at once. The span that log records name stays, then one
-- whose parent arrived, then the one with the lowest id.
--
-- Reads:
--   begun_spans
--   coinciding_spans
--   logs
-- Needs:
--   coinciding_spans
-- Columns:
--   key              BIGINT   One row each.
--   trace_id         VARCHAR
--   span_id          VARCHAR
--   counted_key      BIGINT   The span that counts.
--   counted_span_id  VARCHAR
-- Order:
--   none
WITH traces AS (
  SELECT DISTINCT trace_id
  FROM coinciding_spans
),

members AS (
  SELECT
    begun_spans.key,
    begun_spans.trace_id,
    begun_spans.span_id,
    begun_spans.start_ns,
    begun_spans.end_ns,
    parents.span_id IS NOT NULL AS has_parent,
    length(map_values(begun_spans.attributes)::VARCHAR) AS characters,
    if(
      coinciding_spans.trace_id IS NULL,
      NULL,
      hash(
        begun_spans.name,
        begun_spans.start_ns,
        begun_spans.end_ns,
        begun_spans.ended,
        begun_spans.failed,
        begun_spans.status_message,
        begun_spans.scope_name,
        begun_spans.service_name,
        begun_spans.linked_span_id,
        begun_spans.attributes,
        begun_spans.exception,
        begun_spans.span_events
      )
    ) AS content
  FROM begun_spans
  SEMI JOIN traces USING (trace_id)
  LEFT JOIN begun_spans AS parents
    ON
      begun_spans.trace_id = parents.trace_id
      AND begun_spans.parent_span_id = parents.span_id
  LEFT JOIN coinciding_spans
    ON
      begun_spans.trace_id = coinciding_spans.trace_id
      AND begun_spans.name = coinciding_spans.name
      AND begun_spans.start_ns = coinciding_spans.start_ns
      AND begun_spans.end_ns = coinciding_spans.end_ns
      AND begun_spans.scope_name IS DISTINCT FROM 'tracegrade.import'
),

counted AS (
  SELECT
    *,
    content IS NOT NULL AND count(*) OVER (PARTITION BY trace_id, content) > 1 AS comes_again
  FROM members
),

complete_traces AS (
  SELECT trace_id
  FROM counted
  GROUP BY trace_id
  HAVING
    bool_and(comes_again OR NOT has_parent)
    AND count(DISTINCT content) FILTER (WHERE comes_again) > 1
    AND max(characters) FILTER (WHERE comes_again) > 200
),

copies AS (
  SELECT counted.*
  FROM counted
  LEFT JOIN complete_traces USING (trace_id)
  WHERE
    counted.comes_again
    AND (
      complete_traces.trace_id IS NOT NULL
      OR (
        counted.end_ns > counted.start_ns
        AND (counted.start_ns % 1000000 > 0 OR counted.end_ns % 1000000 > 0)
      )
    )
),

logged AS (
  SELECT DISTINCT
    logs.trace_id,
    logs.span_id
  FROM logs
  SEMI JOIN copies USING (trace_id, span_id)
),

ranked AS (
  SELECT
    copies.*,
    logged.span_id IS NOT NULL AS is_logged
  FROM copies
  LEFT JOIN logged USING (trace_id, span_id)
),

placed AS (
  SELECT
    key,
    trace_id,
    span_id,
    first_value(key) OVER by_preference AS counted_key,
    first_value(span_id) OVER by_preference AS counted_span_id
  FROM ranked
  WINDOW
    by_preference AS (
      PARTITION BY trace_id, content ORDER BY NOT is_logged, NOT has_parent, span_id
    )
)

SELECT
  key,
  trace_id,
  span_id,
  counted_key,
  counted_span_id
FROM placed
WHERE key <> counted_key;
