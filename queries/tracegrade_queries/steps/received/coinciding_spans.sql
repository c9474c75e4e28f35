-- Properties that spans of one trace share if they may be copies of one another.
--
-- Imported sources may have no times of their own, so equal times prove nothing there.
--
-- Reads:
--   begun_spans
-- Columns:
--   trace_id   VARCHAR  A row for each name and time that several spans of a trace have.
--   name       VARCHAR
--   start_ns   BIGINT   Above 0.
--   end_ns     BIGINT
-- Order:
--   none
WITH coincidences AS (
  SELECT hash(trace_id, name, start_ns, end_ns) AS digest
  FROM begun_spans
  WHERE start_ns > 0 AND scope_name IS DISTINCT FROM 'tracegrade.import'
  GROUP BY digest
  HAVING count(*) > 1
)

SELECT
  begun_spans.trace_id,
  begun_spans.name,
  begun_spans.start_ns,
  begun_spans.end_ns
FROM begun_spans
WHERE
  begun_spans.scope_name IS DISTINCT FROM 'tracegrade.import'
  AND hash(
    begun_spans.trace_id, begun_spans.name, begun_spans.start_ns, begun_spans.end_ns
  ) IN (SELECT coincidences.digest FROM coincidences)
GROUP BY ALL
HAVING count(*) > 1;
