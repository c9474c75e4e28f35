-- Bytes that long conversations take: traces with many turns, the largest first.
--
-- Each model call sends the whole history again, so input_share grows with the turns.
--
-- Reads:
--   spans
--   steps
-- Parameters:
--   $turns  INTEGER  Minimum number of turns in a trace, such as 50.
-- Columns:
--   trace_id        VARCHAR  One row each.
--   turns           INTEGER  Turns of its longest trajectory; at least $turns.
--   spans           BIGINT   Spans, without those sent twice.
--   bytes           BIGINT   Attributes and events as text, before compression.
--   input_share     DOUBLE   Bytes of attributes named for inputs or prompts / bytes, in [0, 1].
--   bytes_per_turn  BIGINT   bytes / turns, rounded.
-- Order:
--   bytes DESC, trace_id
WITH long_traces AS (
  SELECT
    trace_id,
    max(turn) + 1 AS turns
  FROM steps
  GROUP BY trace_id
  HAVING max(turn) + 1 >= $turns::INTEGER
),

long_spans AS (
  SELECT spans.*
  FROM spans
  SEMI JOIN long_traces ON spans.trace_id = long_traces.trace_id
),

texts AS (
  SELECT
    trace_id,
    unnest(map_keys(attributes)) AS name,
    unnest(map_values(attributes)) AS text
  FROM long_spans
  UNION ALL
  SELECT
    trace_id,
    '' AS name,
    events::VARCHAR AS text
  FROM long_spans
),

sizes AS (
  SELECT
    trace_id,
    sum(strlen(name) + coalesce(strlen(text), 0))::BIGINT AS bytes,
    sum(strlen(name) + coalesce(strlen(text), 0)) FILTER (
      WHERE regexp_matches(name, 'input|prompt')
    ) AS input_bytes
  FROM texts
  GROUP BY trace_id
),

counts AS (
  SELECT
    trace_id,
    count(*) AS spans
  FROM long_spans
  GROUP BY trace_id
)

SELECT
  long_traces.trace_id,
  long_traces.turns,
  counts.spans,
  sizes.bytes,
  coalesce(sizes.input_bytes, 0) / nullif(sizes.bytes, 0) AS input_share,
  round(sizes.bytes / long_traces.turns)::BIGINT AS bytes_per_turn
FROM long_traces
INNER JOIN counts USING (trace_id)
INNER JOIN sizes USING (trace_id)
ORDER BY sizes.bytes DESC, long_traces.trace_id ASC;
