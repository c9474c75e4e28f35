-- Spans of the traces of this bucket, one row each, numbered.
--
-- A span id that arrived twice with different content (an exporter that sends a span when it starts
-- and again when it ends) counts as it was last received.
--
-- Reads:
--   spans
--   bucket_traces
-- Columns:
--   key              BIGINT  Number of the row, one each; means nothing beyond this bucket.
--   trace_id         VARCHAR
--   span_id          VARCHAR
--   parent_span_id   VARCHAR  NULL at a root.
--   trace_state      VARCHAR
--   name             VARCHAR
--   start_ns         BIGINT   0 if it was not sent or too large.
--   end_ns           BIGINT   start_ns if it was not sent, too large or before it.
--   failed           BOOLEAN  The span's status is an error.
--   status_message   VARCHAR  NULL if empty.
--   attributes       MAP(VARCHAR, VARCHAR)
--   exception        MAP(VARCHAR, VARCHAR)  Attributes of the last exception event; NULL if none.
--   linked_span_id   VARCHAR  Target of the first link; NULL if none.
--   dropped          BOOLEAN  The exporter dropped attributes of it.
--   scope_name       VARCHAR
--   service_name     VARCHAR
--   release          VARCHAR
--   environment      VARCHAR
-- Order:
--   none
WITH found AS (
  SELECT spans.*
  FROM spans
  INNER JOIN bucket_traces USING (trace_id)
),

repeated AS (
  SELECT
    trace_id,
    span_id
  FROM found
  GROUP BY trace_id, span_id
  HAVING count(*) > 1
),

newest AS (
  SELECT found.*
  FROM found
  INNER JOIN repeated USING (trace_id, span_id)
  QUALIFY row_number() OVER (
    PARTITION BY found.trace_id, found.span_id
    ORDER BY found.received_ns DESC, found.wal_seq DESC, found.end_ns DESC, found.content_hash ASC
  ) = 1
),

single AS (
  SELECT found.*
  FROM found
  ANTI JOIN repeated USING (trace_id, span_id)
),

unique_spans AS (
  SELECT * FROM single
  UNION ALL
  SELECT * FROM newest
)

SELECT
  row_number() OVER (ORDER BY trace_id, span_id) AS key,
  trace_id,
  span_id,
  parent_span_id,
  trace_state,
  name,
  coalesce(start_ns, 0) AS start_ns,
  greatest(coalesce(end_ns, 0), coalesce(start_ns, 0)) AS end_ns,
  coalesce(status_code = 2, false) AS failed,
  nullif(status_message, '') AS status_message,
  attributes,
  list_filter(events, lambda event: event.name = 'exception')[-1].attributes AS exception,
  links[1].span_id AS linked_span_id,
  dropped_attributes_count > 0 AS dropped,
  scope_name,
  service_name,
  nullif(resource_attributes['service.version'], '') AS release,
  nullif(
    coalesce(
      resource_attributes['deployment.environment.name'],
      resource_attributes['deployment.environment']
    ),
    ''
  ) AS environment
FROM unique_spans;
