-- Spans of the traces of this bucket.
--
-- Reads:
--   spans
--   bucket_traces
--   label_rungs
--   spans_received_twice
-- Columns:
--   key              BIGINT   Number of the row, which stays when the row is changed.
--   trace_id         VARCHAR  One row a span, but for spans that one request held twice.
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
--   attributes       MAP(VARCHAR, VARCHAR)  NULL once the dialects have read them.
-- Order:
--   none
WITH label_names AS (
  SELECT list(DISTINCT name) AS names
  FROM (SELECT unnest([name] || map_keys(conditions)) AS name FROM label_rungs) AS named
),

counted_spans AS (
  SELECT
    spans.*,
    label_names.names AS label_names
  FROM spans
  SEMI JOIN bucket_traces USING (trace_id)
  LEFT JOIN spans_received_twice USING (trace_id, span_id)
  CROSS JOIN label_names
  WHERE
    spans_received_twice.newest IS NULL
    OR spans_received_twice.newest = span_version(
      spans.start_ns, spans.end_ns, spans.received_ns, spans.wal_seq, spans.content_hash
    )
)

SELECT
  row_number() OVER () - 1 AS key,
  trace_id,
  span_id,
  parent_span_id,
  trace_state,
  name,
  coalesce(start_ns, 0) AS start_ns,
  greatest(coalesce(end_ns, 0), coalesce(start_ns, 0)) AS end_ns,
  coalesce(end_ns, 1) <> 0 AS ended,
  -- OTLP's flags state whether a parent is remote; the parent of a server or consumer span always
  -- is. Langfuse marks the span that it takes for the root of an application.
  parent_span_id IS NULL
  OR (flags & 512) <> 0
  OR kind IN (2, 5)
  OR coalesce(attributes['langfuse.internal.is_app_root'] = 'true', FALSE) AS is_local_root,
  coalesce(status_code = 2, FALSE) AS failed,
  nullif(status_message, '') AS status_message,
  CASE
    WHEN len(events) > 0
      THEN list_filter(events, LAMBDA event: event.name = 'exception')[-1].attributes
  END AS exception,
  CASE
    WHEN len(events) > 0
      THEN list_transform(
        list_filter(
          events,
          LAMBDA event:
          starts_with(event.name, 'gen_ai.')
          OR event.name = 'tool.output'
          -- LlamaIndex's.
          OR event.name IN (
            'LLMChatStartEvent', 'LLMChatEndEvent',
            'LLMCompletionStartEvent', 'LLMCompletionEndEvent'
          )
        ),
        LAMBDA event: {
          'time_ns': event.time_ns, 'name': event.name, 'attributes': event.attributes
        }
      )
  END AS span_events,
  links[1].span_id AS linked_span_id,
  dropped_attributes_count > 0 OR dropped_events_count > 0 AS dropped,
  CASE
    WHEN redacted IS NOT NULL
      THEN list_transform(
        list_filter(
          redacted,
          LAMBDA mark: regexp_matches(
            mark.path,
            '^attributes\..*(arguments|parameters|plan|content|result|(input|output)(\.value)?)$'
          )
        ),
        LAMBDA mark:
        CASE
          -- Nothing was removed: U+FFFD replaces invalid characters, digits a number.
          WHEN mark.rule IN ('invalid_unicode', 'large_integer') THEN mark.rule
          ELSE
            if(regexp_matches(mark.path, '(result|output|output\.value)$'), 'result_', '')
            || if(mark.rule = 'capped', 'truncated', 'redacted')
        END
      )
  END AS marks,
  scope_name,
  service_name,
  nullif(resource_attributes['service.version'], '') AS release,
  nullif(
    coalesce(
      resource_attributes['deployment.environment.name'],
      resource_attributes['deployment.environment']
    ),
    ''
  ) AS environment,
  -- The run's context in the resource.
  CASE
    WHEN
      list_has_any(
        map_keys(resource_attributes),
        [
          'tracegrade.task.id',
          'tracegrade.task.category',
          'tracegrade.trial',
          'tracegrade.run.mode'
        ]
      )
      THEN {
        'task': nullif(resource_attributes['tracegrade.task.id'], ''),
        'category': nullif(resource_attributes['tracegrade.task.category'], ''),
        'trial': try_cast(resource_attributes['tracegrade.trial'] AS INTEGER),
        'run_mode': nullif(resource_attributes['tracegrade.run.mode'], '')
      }
  END AS declared,
  attributes['gen_ai.response.finish_reasons'] AS finish_reasons,
  hash(coalesce(scope_name, ''), map_keys(attributes)) AS shape,
  hash(resource_attributes) AS resource,
  CASE
    WHEN list_has_any(map_keys(attributes), label_names)
      THEN map_from_entries(
        list_filter(
          map_entries(attributes), LAMBDA each: list_contains(label_names, each.key)  -- noqa: RF01
        )
      )
  END AS labels,
  attributes
FROM counted_spans;
