-- Spans of the traces of this bucket.
--
-- A view of rows that later relations change. Each change has a name of its own, up to
-- bucket_spans.
--
-- Reads:
--   span_rows
-- As:
--   view
-- Columns:
--   key              BIGINT   One row each.
--   trace_id         VARCHAR
--   span_id          VARCHAR
--   parent_span_id   VARCHAR  NULL at a root.
--   trace_state      VARCHAR
--   name             VARCHAR
--   start_ns         BIGINT   0 if it was not sent or too large.
--   end_ns           BIGINT   start_ns if it was not sent, too large or before it.
--   ended            BOOLEAN  An end was sent.
--   is_local_root    BOOLEAN  No span of its process is above it: it has no parent, or states a
--                             parent elsewhere.
--   failed           BOOLEAN  The span's status is an error.
--   status_message   VARCHAR  NULL if empty.
--   attributes       MAP(VARCHAR, VARCHAR)  NULL once the dialects have read them.
--   exception        MAP(VARCHAR, VARCHAR)  Attributes of the last exception event; NULL if none.
--   span_events      STRUCT(time_ns BIGINT, "name" VARCHAR, attributes MAP(VARCHAR, VARCHAR))[]
--   linked_span_id   VARCHAR  Target of the first link; NULL if none.
--   dropped          BOOLEAN  The exporter dropped attributes or events of it.
--   marks            VARCHAR[]  Flags of what the collector replaced or cut; NULL if nothing.
--   scope_name       VARCHAR
--   service_name     VARCHAR
--   release          VARCHAR
--   environment      VARCHAR
--   declared         STRUCT(task VARCHAR, category VARCHAR, trial INTEGER, run_mode VARCHAR)
--   finish_reasons   VARCHAR  Why a model stopped, as sent: a JSON list.
--   shape            UBIGINT  Digest of its scope and of the names of its attributes.
--   resource         UBIGINT  Digest of its resource's attributes.
--   labels           MAP(VARCHAR, VARCHAR)  Attributes that dimensions name; NULL if none.
-- Order:
--   none
SELECT
  key,
  trace_id,
  span_id,
  parent_span_id,
  trace_state,
  name,
  start_ns,
  end_ns,
  ended,
  is_local_root,
  failed,
  status_message,
  attributes,
  exception,
  span_events,
  linked_span_id,
  dropped,
  marks,
  scope_name,
  service_name,
  release,
  environment,
  declared,
  finish_reasons,
  shape,
  resource,
  labels
FROM span_rows;
