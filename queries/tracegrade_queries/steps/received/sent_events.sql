-- Span events of the spans in this bucket, and the log records that name those spans.
--
-- Old and new conventions record the same data in different places: one has messages in span
-- events, another in log records. Only the events that some dialect reads are here. AWS's
-- distribution of OpenTelemetry moves messages from spans into one log record each, named like the
-- instrumentation; here it is a `gen_ai.messages`. Spring AI logs texts below a heading, which is
-- their name here. Records of the scope `tracegrade.scoring` are left out: they are scores that
-- were sent out of a lake and came back, not data of an agent or evaluator.
--
-- Reads:
--   mended_spans
--   logs
-- Columns:
--   key         BIGINT   Span it belongs to.
--   position    BIGINT   Rises from 1 in each span: span events in their order, then logs by time.
--   name        VARCHAR  Event name.
--   time_ns     BIGINT
--   attributes  MAP(VARCHAR, VARCHAR)
--   body        VARCHAR  JSON or text of a log record; NULL for a span event.
-- Order:
--   none
WITH span_events AS (
  SELECT
    key,
    generate_subscripts(mended_spans.span_events, 1) AS position,
    unnest(mended_spans.span_events) AS event
  FROM mended_spans
  WHERE len(mended_spans.span_events) > 0
),

log_records AS (
  SELECT
    mended_spans.key,
    position_gap() + row_number() OVER (
      PARTITION BY mended_spans.key
      ORDER BY
        coalesce(nullif(logs.time_ns, 0), logs.observed_time_ns),
        try_cast(logs.attributes['event.sequence'] AS BIGINT),
        logs.observed_time_ns,
        logs.wal_seq,
        logs.content_hash
    ) AS position,
    CASE
      WHEN regexp_matches(logs.body, '^\{\s*"(input|output)":\s*\{\s*"messages":')
        THEN 'gen_ai.messages'
      WHEN regexp_matches(logs.body, '^Chat (Model|Client) (Prompt Content|Completion):\n')
        THEN split_part(logs.body, ':', 1)
      ELSE coalesce(nullif(logs.event_name, ''), logs.attributes['event.name'], logs.body)
    END AS name,
    coalesce(nullif(logs.time_ns, 0), logs.observed_time_ns) AS time_ns,
    logs.attributes,
    logs.body
  FROM logs
  INNER JOIN mended_spans USING (trace_id, span_id)
  WHERE logs.scope_name IS DISTINCT FROM 'tracegrade.scoring'
)

SELECT
  key,
  position,
  event.name,
  event.time_ns,
  event.attributes,
  NULL::VARCHAR AS body
FROM span_events
UNION ALL BY NAME
SELECT * FROM log_records;
